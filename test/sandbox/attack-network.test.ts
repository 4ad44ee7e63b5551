import { createSocket } from 'node:dgram'
import { chmodSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bare } from './bare.ts'
import { makeSharedPlace, open, type Place } from './open.ts'

/** Attack C06: what listens on the host. Every connection that arrives is counted. */
let reached: string[] = []
let place: Place
let tcp: Server
let tcp6: Server
let path: Server
let abstract: Server
const udp = createSocket('udp4')

async function listen(name: string, where: object | string): Promise<Server> {
  const server = createServer(socket => {
    reached.push(name)
    socket.end('HOSTSVC')
  })
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(where as object, resolve))
  return server
}

beforeAll(async () => {
  place = makeSharedPlace()
  tcp = await listen('tcp', { host: '127.0.0.1', port: 0 })
  tcp6 = await listen('tcp6', { host: '::1', port: 0 })
  path = await listen('path', join(place.root, 'host.sock'))
  chmodSync(join(place.root, 'host.sock'), 0o777)
  abstract = await listen('abstract', `\0grokbot-test-${process.pid}`)
  await new Promise<void>(resolve => udp.bind(0, '127.0.0.1', resolve))
  udp.on('message', () => reached.push('udp'))
})

afterAll(() => {
  for (const server of [tcp, tcp6, path, abstract]) server.close()
  udp.close()
  rmSync(place.root, { recursive: true, force: true })
})

const portOf = (server: Server) => (server.address() as { port: number }).port

function attack(socketPath: string): string {
  return `
use Socket qw(:all); $SIG{ALRM} = sub { die "timeout\\n" };
sub try { my ($name, $do) = @_; alarm 3; my $r = eval { $do->() }; alarm 0; print "$name ", ($r ? "OPEN" : "closed"), "\\n" }
sub tcp { my ($h, $p) = @_; socket(my $s, PF_INET, SOCK_STREAM, 6) or return; connect($s, pack_sockaddr_in($p, inet_aton($h))) or return; recv($s, my $b, 16, 0); $b =~ /HOSTSVC/ }
sub tcp6 { my ($h, $p) = @_; socket(my $s, PF_INET6, SOCK_STREAM, 6) or return; connect($s, pack_sockaddr_in6($p, inet_pton(AF_INET6, $h))) or return; recv($s, my $b, 16, 0); $b =~ /HOSTSVC/ }
sub unix { my ($n) = @_; socket(my $s, PF_UNIX, SOCK_STREAM, 0) or return; connect($s, $n) or return; recv($s, my $b, 16, 0); $b =~ /HOSTSVC/ }
try("tcp", sub { tcp("127.0.0.1", ${portOf(tcp)}) });
try("tcp6", sub { tcp6("::1", ${portOf(tcp6)}) });
try("mapped", sub { tcp6("::ffff:127.0.0.1", ${portOf(tcp)}) });
try("any", sub { tcp("0.0.0.0", ${portOf(tcp)}) });
try("path", sub { unix(pack_sockaddr_un("${socketPath}")) });
try("abstract", sub { unix(pack("Sa*", AF_UNIX, "\\0grokbot-test-${process.pid}")) });
try("udp", sub { socket(my $s, PF_INET, SOCK_DGRAM, 17) or return; send($s, "x", 0, pack_sockaddr_in(${udp.address().port}, inet_aton("127.0.0.1"))); 0 });
try("vsock", sub { socket(my $s, 40, SOCK_STREAM, 0) });
try("metadata", sub { socket(my $s, PF_INET, SOCK_STREAM, 6) or return; connect($s, pack_sockaddr_in(80, inet_aton("169.254.169.254"))) });
try("public", sub { socket(my $s, PF_INET, SOCK_STREAM, 6) or return; connect($s, pack_sockaddr_in(53, inet_aton("192.0.2.1"))) });
try("ping", sub { socket(my $s, PF_INET, SOCK_DGRAM, 1) });
`
}

test.each(['workspace', 'strict', 'read-only', 'review'])(
  'C06: nothing of the host and nothing outside is reached from the profile %s',
  async profile => {
    reached = []
    const { sandbox } = await open({ profile, mounts: [{ source: place.root, target: '/shown', mode: 'ro' }] })
    const result = await sandbox.run({ argv: ['perl', '-e', attack('/shown/host.sock')], wallMs: 60_000 })
    const lines = result.kind === 'ended' ? Buffer.from(result.output).toString().trim().split('\n') : []
    expect(lines.length).toBe(11)
    expect(lines.filter(line => line.endsWith('OPEN'))).toEqual([])
    await new Promise(resolve => setTimeout(resolve, 50))
    expect(reached).toEqual([])
  },
  60_000,
)

test('C06, red: without a sandbox the same program reaches the services of the host', async () => {
  reached = []
  const lines = (await bare(['/usr/bin/perl', '-e', attack(join(place.root, 'host.sock'))])).trim().split('\n')
  await new Promise(resolve => setTimeout(resolve, 50))
  expect(lines.filter(line => line.endsWith('OPEN')).map(line => line.split(' ')[0])).toEqual(
    expect.arrayContaining(['tcp', 'tcp6', 'mapped', 'any', 'path', 'abstract', 'vsock']),
  )
  expect([...new Set(reached)].sort()).toEqual(['abstract', 'path', 'tcp', 'tcp6', 'udp'])
}, 60_000)

test('C06: a session’s own loopback works, by both families, and another session cannot reach it', async () => {
  const server =
    'use IO::Socket::INET; my $s = IO::Socket::INET->new(LocalAddr => "127.0.0.1", LocalPort => 7070, Listen => 1) or die; my $c = $s->accept; print $c "mine"; close $c; sleep 5'
  const client = 'for i in $(seq 40); do exec 3<>/dev/tcp/127.0.0.1/7070 && cat <&3 && exit; sleep 0.05; done 2>/dev/null; echo nothing'
  const one = await open()
  const other = await open()
  const serving = one.sandbox.run({ argv: ['perl', '-e', server], wallMs: 8000 })
  const [mine, foreign] = [await one.sh(client), await other.sh('exec 3<>/dev/tcp/127.0.0.1/7070 && cat <&3')]
  expect([mine.output, foreign.output.includes('mine')]).toEqual(['mine', false])
  await one.sandbox.close()
  await serving
}, 60_000)

test('abstract sockets of two sessions, and of a session and the host, are apart', async () => {
  const one = await open()
  const other = await open()
  const listening = one.sandbox.run({
    argv: [
      'perl',
      '-e',
      'use Socket; socket(my $s, PF_UNIX, SOCK_STREAM, 0); bind($s, pack("Sa*", AF_UNIX, "\\0meet")) or die; listen($s, 1); $| = 1; print "up"; sleep 20',
    ],
    wallMs: 20_000,
  })
  const probe =
    'use Socket; sleep 1; socket(my $s, PF_UNIX, SOCK_STREAM, 0); print connect($s, pack("Sa*", AF_UNIX, "\\0meet")) ? "met" : "apart"'
  const [inside, outside] = [
    await one.sandbox.run({ argv: ['perl', '-e', probe] }),
    await other.sandbox.run({ argv: ['perl', '-e', probe] }),
  ]
  expect([inside, outside].map(result => result.kind === 'ended' && Buffer.from(result.output).toString())).toEqual(['met', 'apart'])
  expect(await bare(['/usr/bin/perl', '-e', probe])).toBe('apart')
  await one.sandbox.close()
  await listening
}, 60_000)

test('the profile with the network of the host reaches it, and the report says partial', async () => {
  reached = []
  const { sandbox, sh } = await open({ network: { kind: 'host' } })
  expect((await sh(`exec 3<>/dev/tcp/127.0.0.1/${portOf(tcp)} && cat <&3`)).output).toBe('HOSTSVC')
  expect(sandbox.report.state).toBe('partial')
  expect(sandbox.report.missing).toContain('netRestrict: host network')
}, 60_000)
