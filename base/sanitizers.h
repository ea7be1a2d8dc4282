/* Tells which sanitizer the code is compiled with, as 0 or 1, because gcc and clang define
   different macros. Sanitizers have their own allocators, memory maps and signal handlers, so
   memory limits and system call filters are not used with them. */
#ifndef BASE_SANITIZERS_H
#define BASE_SANITIZERS_H

#ifdef __has_feature
#define HAS_SANITIZER(name) __has_feature(name)
#else
#define HAS_SANITIZER(name) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || HAS_SANITIZER(address_sanitizer)
#define ADDRESS_SANITIZED 1
#else
#define ADDRESS_SANITIZED 0
#endif

#if defined(__SANITIZE_THREAD__) || HAS_SANITIZER(thread_sanitizer)
#define THREAD_SANITIZED 1
#else
#define THREAD_SANITIZED 0
#endif

#define SANITIZED (ADDRESS_SANITIZED || THREAD_SANITIZED || HAS_SANITIZER(memory_sanitizer))

#endif
