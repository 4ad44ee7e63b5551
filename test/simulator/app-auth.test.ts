import { createHmac, createSign, generateKeyPairSync } from 'node:crypto'
import { createAppAuth } from '@octokit/auth-app'
import { Octokit } from '@octokit/rest'
import { describe, expect, test } from 'vitest'
import { mint, octokit, outcome, silent, useSimulator } from './fixture.ts'

const fixture = useSimulator()

function jwt(claims: object, options: { key?: string; algorithm?: string; signature?: string } = {}): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const head = `${part({ alg: options.algorithm ?? 'RS256', typ: 'JWT' })}.${part(claims)}`
  const signature =
    options.signature ??
    createSign('RSA-SHA256')
      .update(head)
      .sign(options.key ?? fixture.github.appPrivateKey, 'base64url')
  return `${head}.${signature}`
}

async function getApp(token: string): Promise<{ status: number; message: string | undefined }> {
  const response = await fetch(`${fixture.github.url}/app`, { headers: { authorization: `Bearer ${token}`, 'user-agent': 'test' } })
  return { status: response.status, message: ((await response.json()) as { message?: string }).message }
}

const now = () => Math.floor(Date.now() / 1000)
const strange = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
  publicKeyEncoding: { type: 'spki', format: 'pem' },
})
const undecodable = 'A JSON web token could not be decoded'

describe('the JWT of the App', () => {
  test('is accepted when it is right', async () => {
    expect(await getApp(jwt({ iss: fixture.github.appId, iat: now() - 30, exp: now() + 570 }))).toEqual({ status: 200, message: undefined })
    expect((await getApp(jwt({ iss: 'Iv23liSimulator00001', iat: now() - 30, exp: now() + 570 }))).status).toBe(200)
  })

  test.each<[string, () => string, number, string]>([
    ['signed by another key', () => jwt({ iss: 424242, iat: now(), exp: now() + 60 }, { key: strange.privateKey }), 401, undecodable],
    ['not signed', () => jwt({ iss: 424242, iat: now(), exp: now() + 60 }, { algorithm: 'none', signature: '' }), 401, undecodable],
    [
      'signed with the public key as an HMAC secret',
      () =>
        jwt(
          { iss: 424242, iat: now(), exp: now() + 60 },
          { algorithm: 'HS256', signature: createHmac('sha256', fixture.github.state.app.publicKey).update('x').digest('base64url') },
        ),
      401,
      undecodable,
    ],
    [
      'expired',
      () => jwt({ iss: 424242, iat: now() - 700, exp: now() - 1 }),
      401,
      "'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion expires",
    ],
    [
      'living for more than ten minutes',
      () => jwt({ iss: 424242, iat: now(), exp: now() + 700 }),
      401,
      "'Expiration time' claim ('exp') is too far in the future",
    ],
    [
      'issued in the future',
      () => jwt({ iss: 424242, iat: now() + 60, exp: now() + 500 }),
      401,
      "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued",
    ],
    ['of another App', () => jwt({ iss: 7, iat: now(), exp: now() + 60 }), 404, 'Integration not found'],
    ['not a JWT', () => 'a.b.c', 401, undecodable],
  ])('%s is refused', async (_, make, status, message) => {
    expect(await getApp(make())).toEqual({ status, message })
  })

  test('opens nothing but the routes of the App', async () => {
    const octo = octokit(fixture.github, jwt({ iss: 424242, iat: now(), exp: now() + 60 }))
    expect((await outcome(octo.rest.repos.get({ owner: 'octo', repo: 'hello' }))).status).toBe(401)
  })
})

describe('installation tokens', () => {
  test('are minted for what was asked, and the request log shows how far', async () => {
    const token = await mint(fixture.github, 'octo', { permissions: { issues: 'write' }, repositoryNames: ['hello'] })
    expect(token).toMatch(/^ghs_\w{36}$/)
    await octokit(fixture.github, token).rest.issues.listForRepo({ owner: 'octo', repo: 'hello' })
    expect(fixture.github.requests('GET /repos/{owner}/{repo}/issues').at(-1)?.auth).toEqual({
      kind: 'installation',
      installationId: fixture.github.installation('octo').id,
      permissions: { metadata: 'read', issues: 'write' },
      repositories: ['octo/hello'],
    })
  })

  test('more than the installation has is refused', async () => {
    await expect(mint(fixture.github, 'octo', { permissions: { workflows: 'write' } })).rejects.toMatchObject({ status: 422 })
    await expect(mint(fixture.github, 'octo', { permissions: { metadata: 'admin' } })).rejects.toMatchObject({ status: 422 })
    await expect(mint(fixture.github, 'octo', { repositoryNames: ['other'] })).rejects.toMatchObject({ status: 422 })
  })

  test('another repository, a missing permission, a wrong and an expired token are four different answers', async () => {
    const { github } = fixture
    await github.addRepository({ owner: 'octo', name: 'private', private: true })
    const narrow = octokit(github, await mint(github, 'octo', { repositoryNames: ['hello'], permissions: { contents: 'read' } }))
    expect(await outcome(narrow.rest.repos.get({ owner: 'octo', repo: 'private' }))).toMatchObject({
      status: 404,
      data: { message: 'Not Found' },
    })
    expect(await outcome(narrow.rest.issues.listForRepo({ owner: 'octo', repo: 'hello' }))).toMatchObject({
      status: 403,
      data: { message: 'Resource not accessible by integration' },
    })
    const wrong = octokit(github, 'ghs_wrong')
    expect(await outcome(wrong.rest.repos.get({ owner: 'octo', repo: 'hello' }))).toMatchObject({
      status: 401,
      data: { message: 'Bad credentials' },
    })
    github.expireTokens()
    expect(await outcome(narrow.rest.repos.get({ owner: 'octo', repo: 'hello' }))).toMatchObject({
      status: 401,
      data: { message: 'Bad credentials' },
    })
  })

  test('a revoked token is dead', async () => {
    const octo = octokit(fixture.github, await mint(fixture.github, 'octo'))
    expect((await octo.rest.apps.revokeInstallationAccessToken()).status).toBe(204)
    expect((await outcome(octo.rest.repos.get({ owner: 'octo', repo: 'hello' }))).status).toBe(401)
  })

  test('a suspended installation mints nothing and its old tokens read nothing', async () => {
    const { github } = fixture
    const octo = octokit(github, await mint(github, 'octo'))
    github.setInstallation('octo', { suspended: true })
    await expect(mint(github, 'octo')).rejects.toMatchObject({ status: 403 })
    expect((await outcome(octo.rest.repos.get({ owner: 'octo', repo: 'hello' }))).status).toBe(403)
    github.setInstallation('octo', { suspended: false })
  })

  test('an uninstalled App is told 404, and its installation can be found by repository before', async () => {
    const { github } = fixture
    await github.addRepository({ owner: 'gone', name: 'thing' })
    const { id } = github.installation('gone')
    const app = new Octokit({
      baseUrl: github.url,
      authStrategy: createAppAuth,
      auth: { appId: github.appId, privateKey: github.appPrivateKey },
      log: silent,
    })
    expect((await app.rest.apps.getRepoInstallation({ owner: 'gone', repo: 'thing' })).data).toMatchObject({
      id,
      app_slug: 'grokbot',
      repository_selection: 'all',
    })
    expect((await app.rest.apps.getAuthenticated()).data).toMatchObject({ slug: 'grokbot', id: github.appId })
    github.uninstall('gone')
    expect((await outcome(app.rest.apps.createInstallationAccessToken({ installation_id: id }))).status).toBe(404)
  })
})
