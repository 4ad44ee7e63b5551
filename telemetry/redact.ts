/** Shapes of credentials that must never be written, whoever hands them to us. Registered values are found as they are. */
const shapes = [
  /gh[pousr]_[A-Za-z0-9]{20,255}/g,
  /github_pat_[A-Za-z0-9_]{20,255}/g,
  /x-access-token:[^@\s]+@/g,
  /\b(?:sk|xai)-[A-Za-z0-9_-]{16,}/g,
  /\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}/g,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?-----END [A-Z ]*PRIVATE KEY-----/g,
  /\b(?:authorization|x-hub-signature-256):\s*\S+(?:\s+\S+)?/gi,
]

const registered = new Set<string>()
const secretLengthMin = 8

/** From now on this value, and its base64, is replaced wherever text passes `redact`. */
export function registerSecret(value: string): void {
  if (value.length < secretLengthMin) return
  registered.add(value)
  registered.add(Buffer.from(value).toString('base64'))
  registered.add(Buffer.from(`x-access-token:${value}`).toString('base64'))
}

export function redact(text: string): string {
  let clean = text
  for (const secret of registered) clean = clean.replaceAll(secret, '[redacted]')
  for (const shape of shapes) clean = clean.replace(shape, '[redacted]')
  return clean
}
