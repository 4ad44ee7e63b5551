/**
 * What credentials of known makers look like, so that one is found that nobody registered. `inFiles`: so distinct that a
 * change of a repository may be searched for it; the others stand in test data and documentation too. Every repetition has
 * an end: the texts are foreign, and a text made for it would else take minutes.
 */
export type CredentialShape = { name: string; pattern: RegExp; inFiles: boolean }

export const credentialShapes: readonly CredentialShape[] = [
  {
    name: 'private key',
    pattern: /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----(?:[^-]|-(?!----)){0,16384}-----END [A-Z ]{0,40}PRIVATE KEY-----/g,
    inFiles: true,
  },
  { name: 'GitHub token', pattern: /gh[pousr]_[A-Za-z0-9]{20,255}/g, inFiles: true },
  { name: 'GitHub token', pattern: /github_pat_[A-Za-z0-9_]{20,255}/g, inFiles: true },
  { name: 'GitLab token', pattern: /\bglpat-[A-Za-z0-9_-]{16,255}/g, inFiles: true },
  { name: 'model key', pattern: /\b(?:sk|xai)-(?=[A-Za-z0-9_-]{0,60}\d)[A-Za-z0-9_-]{20,255}/g, inFiles: true },
  { name: 'model key', pattern: /\b(?:sk|xai)-[A-Za-z0-9_-]{16,255}/g, inFiles: false },
  { name: 'Stripe key', pattern: /\b(?:[sr]k_(?:live|test)|whsec)_[A-Za-z0-9+/=]{16,255}/g, inFiles: true },
  { name: 'AWS key id', pattern: /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g, inFiles: true },
  { name: 'Google key', pattern: /\bAIza[A-Za-z0-9_-]{35}/g, inFiles: true },
  { name: 'Slack token', pattern: /\bx(?:ox[abeoprs]|app)-[A-Za-z0-9-]{10,255}/g, inFiles: true },
  { name: 'npm token', pattern: /\bnpm_[A-Za-z0-9]{36}/g, inFiles: true },
  { name: 'JSON web token', pattern: /\beyJ[A-Za-z0-9_-]{10,512}\.[A-Za-z0-9_-]{10,8192}\.[A-Za-z0-9_-]{10,2048}/g, inFiles: false },
  { name: 'password in an address', pattern: /(?<=:\/\/)[^\s/:@'"`]{0,255}:[^\s/@'"`]{1,255}(?=@)/g, inFiles: false },
  { name: 'password in an address', pattern: /x-access-token:[^@\s]{1,255}@/g, inFiles: false },
  { name: 'authorisation', pattern: /\b(?:Bearer|Basic)\s{1,8}[A-Za-z0-9._~+/=-]{16,8192}/gi, inFiles: false },
  {
    name: 'authorisation',
    pattern: /\b(?:authorization|x-hub-signature-256):[ \t]{0,8}\S{1,8192}(?:[ \t]{1,8}\S{1,8192})?/gi,
    inFiles: false,
  },
]
