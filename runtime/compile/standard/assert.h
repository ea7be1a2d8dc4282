/* assert is built into NVRTC, which asks for NDEBUG before any source. As in C, each include
   asks again. */
#ifdef NDEBUG
#undef assert
#define assert(...) ((void)0)
#endif
