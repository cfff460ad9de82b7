/* td_version.h - version of the interface between generated code and these kernels.
 *
 * Generated code refuses to build against another number; it is raised whenever a parameter struct, a packed weight
 * layout or a kernel's arguments change.
 */
#ifndef TD_VERSION_H
#define TD_VERSION_H

#define TD_RUNTIME_ABI 1

#endif
