import type { Facts } from '../../domain/index.ts'

/** Of a maintainer's command on an issue, with which nothing is wrong. */
export const facts: Facts = {
  ownerAllowed: true,
  actor: { id: 7, login: 'mona', kind: 'user' },
  botAllowed: false,
  role: 'write',
  subject: 'issue',
  pull: null,
  lastFailed: null,
  botRuns: 0,
  archived: false,
  locked: false,
  baseSha: 'a'.repeat(40),
  defaultBranch: 'main',
  killSwitch: 'on',
  subjectTrusted: true,
  operatorProfile: null,
}
