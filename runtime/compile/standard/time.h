/* clock and clock_t are built into NVRTC; time and its like are no device functions. */
