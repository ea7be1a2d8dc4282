/* clock and clock_t are built into NVRTC; time and similar functions do not exist on a device. */
