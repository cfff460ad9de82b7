/* td_arch.h - the only place that decides what the compiler and the core can do.
 *
 * TD_USE_DSP       1: assembly for the 32-bit SIMD of ARMv7E-M and ARMv8-M with DSP may be used, else 0
 * TD_USE_MVE       1: assembly for the integer vector extension (Helium) may be used, else 0
 * TD_USE_V7M       1: assembly for the 32-bit Thumb instructions (ARMv7-M and later mainline cores) may be used, else 0
 * TD_USE_V6M       1: assembly for the 16-bit Thumb instructions (ARMv6-M, ARMv8-M baseline) is used, else 0
 * TD_USE_FPU       1: assembly for a float unit of Arm's (single precision at least) may be used, else 0
 * TD_HAS_LONG_MUL  1: 32 x 32 -> 64 bit multiply in hardware, 0: ARMv6-M and ARMv8-M baseline
 * TD_ALIGN(n)      alignment of a variable, before its type
 * TD_NOINLINE      keeps a function out of line
 * TD_INLINE        "static inline" that is really inlined, for bodies specialised by constant arguments
 * TD_AFTER_NODE(node, data, bytes)
 *                  where NAME_run has written an output of a node: nothing; with TD_TRACE defined it calls td_trace,
 *                  which the firmware brings (`validate --per-layer` compares the outputs of every node)
 * td_word, td_half, td_pointer
 *                  types that may read and write any object (no strict aliasing), naturally aligned
 *
 * Define TD_NO_ASM to get plain C everywhere, and TD_NO_LONG_MUL to get the code of the small cores everywhere.
 */
#ifndef TD_ARCH_H
#define TD_ARCH_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__) && !defined(TD_NO_ASM)
#define TD_GNU_ASM 1
#else
#define TD_GNU_ASM 0
#endif

#if TD_GNU_ASM && defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 1)
#define TD_USE_MVE 1
#else
#define TD_USE_MVE 0
#endif

#if TD_GNU_ASM && defined(__ARM_FEATURE_DSP) && defined(__thumb2__)
#define TD_USE_DSP 1
#else
#define TD_USE_DSP 0
#endif

#if TD_GNU_ASM && defined(__thumb2__)
#define TD_USE_V7M 1
#else
#define TD_USE_V7M 0
#endif

#if TD_GNU_ASM && defined(__thumb__) && !defined(__thumb2__)
#define TD_USE_V6M 1
#else
#define TD_USE_V6M 0
#endif

#if TD_GNU_ASM && defined(__thumb2__) && defined(__ARM_FP) && (__ARM_FP & 4)
#define TD_USE_FPU 1
#else
#define TD_USE_FPU 0
#endif

#if defined(TD_NO_LONG_MUL) || (defined(__ARM_ARCH_ISA_THUMB) && __ARM_ARCH_ISA_THUMB == 1)
#define TD_HAS_LONG_MUL 0
#else
#define TD_HAS_LONG_MUL 1
#endif

#if defined(__GNUC__)
#define TD_ALIGN(n) __attribute__((aligned(n)))
#define TD_NOINLINE __attribute__((noinline))
#define TD_INLINE   static inline __attribute__((always_inline))
typedef uint32_t __attribute__((may_alias)) td_word;
typedef uint16_t __attribute__((may_alias)) td_half;
typedef const int8_t *__attribute__((may_alias)) td_pointer;
#elif defined(__ICCARM__)
#define TD_PRAGMA(x) _Pragma(#x)
#define TD_ALIGN(n)  TD_PRAGMA(data_alignment = n)
#define TD_NOINLINE  _Pragma("inline=never")
#define TD_INLINE    _Pragma("inline=forced") static inline
typedef uint32_t td_word;
typedef uint16_t td_half;
typedef const int8_t *td_pointer;
#else
#if defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define TD_ALIGN(n) _Alignas(n)
#elif !defined(TD_ALIGN)
#error "td_arch.h does not know how this compiler aligns variables: compile as C11, or define TD_ALIGN(n)"
#endif
#define TD_NOINLINE
#define TD_INLINE static inline
typedef uint32_t td_word;
typedef uint16_t td_half;
typedef const int8_t *td_pointer;
#endif

#if defined(TD_TRACE)
void td_trace(int32_t node, const void *data, uint32_t bytes);
#define TD_AFTER_NODE(node, data, bytes) td_trace(node, data, bytes)
#else
#define TD_AFTER_NODE(node, data, bytes) ((void)0)
#endif

#endif
