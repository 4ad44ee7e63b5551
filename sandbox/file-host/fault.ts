export type Fault = { kind: 'fault'; code: string; message: string }

const codes: Record<string, string> = {
  ENOENT: 'not-found',
  EISDIR: 'is-directory',
  ENOTDIR: 'not-a-directory',
  EACCES: 'denied',
  EPERM: 'denied',
  EROFS: 'read-only',
  EXDEV: 'denied',
  EBUSY: 'denied',
  EFBIG: 'too-large',
  ENXIO: 'not-a-file',
  ELOOP: 'loop',
  ENAMETOOLONG: 'name-too-long',
  ENOSPC: 'no-space',
  EDQUOT: 'no-space',
  EMFILE: 'broken',
  ERR_INVALID_ARG_VALUE: 'not-found',
}

/** The kernel's error as a value. Node refuses a NUL byte in a path with a code of its own: no such file can exist. */
export function faultOf(error: unknown): Fault {
  const { code, message } = error as NodeJS.ErrnoException
  return { kind: 'fault', code: codes[code ?? ''] ?? 'broken', message: String(message ?? error).slice(0, 500) }
}

export function fault(code: string, message: string): Fault {
  return { kind: 'fault', code, message }
}
