/**
 * Removes credentials from a text that people will see: the given secrets, plain, percent-encoded and as basic
 * authorisation, and whatever stands as user information in a URL.
 */
export function redact(text: string, secrets: readonly string[] = []): string {
  let clean = text
  for (const secret of secrets.flatMap(spellings)) clean = clean.replaceAll(secret, '[redacted]')
  return clean.replaceAll(/([a-z][a-z0-9+.-]*:\/\/)[^\s/@'"]*@/gi, '$1[redacted]@')
}

function spellings(secret: string): string[] {
  if (secret === '') return []
  const basic = Buffer.from(`x-access-token:${secret}`, 'utf8').toString('base64')
  const all = [basic, basic.replaceAll('=', ''), Buffer.from(secret).toString('base64'), encodeURIComponent(secret), secret]
  return [...new Set(all)].sort((a, b) => b.length - a.length)
}
