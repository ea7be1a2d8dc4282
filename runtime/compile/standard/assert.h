/* assert is built into NVRTC, which obeys only an NDEBUG of the command line. An include of this
   header with NDEBUG defined switches assert off; a later include does not switch it on again. */
#ifdef NDEBUG
#undef assert
#define assert(...) ((void)0)
#endif
