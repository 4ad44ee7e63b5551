import { expect, test } from 'vitest'
import { isPublicAddress } from '../../sandbox/egress/address-ranges.ts'
import { findUnusableEntry, isListed, parseAuthority } from '../../sandbox/egress/allow-list.ts'
import { readHelloName } from '../../sandbox/egress/client-hello.ts'
import { chooseAddress } from '../../sandbox/egress/dial.ts'

test.each([
  ['registry.example:443', { host: 'registry.example', port: 443 }],
  ['registry.example', { host: 'registry.example', port: 80 }],
  ['93.184.216.34:80', { host: '93.184.216.34', port: 80 }],
  ['[2606:2800:220:1::1]:443', { host: '2606:2800:220:1::1', port: 443 }],
  ['xn--nxasmq6b.example:443', { host: 'xn--nxasmq6b.example', port: 443 }],
])('reads %j', (text, endpoint) => {
  expect(parseAuthority(text, 80)).toEqual(endpoint)
})

test.each([
  ['user@registry.example'],
  ['evil@registry.example:443'],
  ['registry.example.:443'],
  ['Registry.example:443'],
  ['REGISTRY.EXAMPLE'],
  ['régistry.example'],
  ['registry。example'],
  ['registry.example\0.evil.example:443'],
  ['registry.example%00.evil:443'],
  ['registry.example:443 evil.example'],
  ['registry.example/evil'],
  ['registry.example#evil'],
  ['registry.example?evil'],
  ['registry.example\\evil'],
  ['registry..example'],
  ['.registry.example'],
  ['-registry.example'],
  ['registry_.example'],
  ['0x7f.1:80'],
  ['0x7f000001'],
  ['2130706433'],
  ['127.1'],
  ['017700000001'],
  ['127.0.0.01'],
  ['1.2.3.4.5'],
  ['[::1'],
  ['[::ffff:127.0.0.1%eth0]:80'],
  ['::1:80'],
  ['registry.example:0'],
  ['registry.example:080'],
  ['registry.example:65536'],
  ['registry.example:443:443'],
  [''],
  [':443'],
  [`${'a'.repeat(64)}.example`],
])('refuses %j', text => {
  expect(parseAuthority(text, 80)).toBeNull()
})

test('the list matches host and port exactly; a star stands for any name at its port', () => {
  const list = [
    { host: 'registry.example', port: 443 },
    { host: '*', port: 8443 },
  ]
  const asked = [
    'registry.example:443',
    'registry.example:80',
    'registry.example.evil:443',
    'evil-registry.example:443',
    'sub.registry.example:443',
    'any.example:8443',
  ]
  expect(asked.map(text => isListed(parseAuthority(text, null) ?? { host: '', port: 0 }, list))).toEqual([
    true,
    false,
    false,
    false,
    false,
    true,
  ])
})

test('an entry that could never match is found', () => {
  expect([
    findUnusableEntry([
      { host: 'registry.example', port: 443 },
      { host: '*', port: 443 },
      { host: '::1', port: 80 },
    ]),
    findUnusableEntry([{ host: 'Registry.example', port: 443 }]),
    findUnusableEntry([{ host: '*', port: 0 }]),
    findUnusableEntry([{ host: '*.example', port: 443 }]),
  ]).toEqual([null, { host: 'Registry.example', port: 443 }, { host: '*', port: 0 }, { host: '*.example', port: 443 }])
})

test.each([
  ...[
    '127.0.0.1',
    '127.255.255.255',
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
  ],
  ...['192.0.0.192', '198.18.0.1', '203.0.113.9', '224.0.0.1', '255.255.255.255', '168.63.129.16', '100.100.100.200'],
  ...[
    '::',
    '::1',
    'fe80::1',
    'fe80::1%eth0',
    'fc00::1',
    'fd00:ec2::254',
    'ff02::1',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '::ffff:10.0.0.1',
  ],
  ...['::127.0.0.1', '64:ff9b::7f00:1', '64:ff9b:1::1', '2002:7f00:1::', '2001::1', '2001:db8::1', '3fff::1', '100::1', 'fec0::1'],
  ...['', 'localhost', '127.1', '0x7f.1'],
])('%j is not public', address => {
  expect(isPublicAddress(address)).toBe(false)
})

test.each(['1.1.1.1', '93.184.216.34', '172.15.0.1', '172.32.0.1', '100.128.0.1', '2606:4700:4700::1111', '2a00:1450:4001::1'])(
  '%j is public',
  address => {
    expect(isPublicAddress(address)).toBe(true)
  },
)

/** A ClientHello with the given extensions, as RFC 8446 lays it out. */
function hello(extensions: Buffer): Buffer {
  const u16 = (value: number) => Buffer.from([value >> 8, value & 255])
  const body = Buffer.concat([
    u16(0x0303),
    Buffer.alloc(32, 7),
    Buffer.from([0]),
    u16(2),
    u16(0x1301),
    Buffer.from([1, 0]),
    u16(extensions.length),
    extensions,
  ])
  const handshake = Buffer.concat([Buffer.from([1, 0]), u16(body.length), body])
  return Buffer.concat([Buffer.from([0x16, 3, 1]), u16(handshake.length), handshake])
}

function serverName(name: string): Buffer {
  const u16 = (value: number) => Buffer.from([value >> 8, value & 255])
  const bytes = Buffer.from(name, 'latin1')
  const list = Buffer.concat([Buffer.from([0]), u16(bytes.length), bytes])
  return Buffer.concat([u16(0), u16(list.length + 2), u16(list.length), list])
}

test('the server name of a TLS hello is read, whole or not at all', () => {
  const other = Buffer.from([0, 10, 0, 4, 0, 2, 0, 29])
  const whole = hello(Buffer.concat([other, serverName('registry.example')]))
  const twice = hello(Buffer.concat([serverName('registry.example')]))
  twice.writeUInt16BE(0xffff, twice.length - 20)
  expect({
    whole: readHelloName(whole),
    rest: readHelloName(Buffer.concat([whole, Buffer.from('more')])),
    parts: [0, 1, 4, 5, 40, whole.length - 1].map(length => readHelloName(whole.subarray(0, length)).kind),
    nameless: readHelloName(hello(other)),
    plain: readHelloName(Buffer.from('GET / HTTP/1.1\r\n')),
    ssh: readHelloName(Buffer.from('SSH-2.0-x\r\n')),
    broken: readHelloName(twice).kind,
  }).toEqual({
    whole: { kind: 'name', name: 'registry.example' },
    rest: { kind: 'name', name: 'registry.example' },
    parts: ['more', 'more', 'more', 'more', 'more', 'more'],
    nameless: { kind: 'nameless' },
    plain: { kind: 'other' },
    ssh: { kind: 'other' },
    broken: 'other',
  })
})

test('of the addresses of a name the first public one is dialled, and a private one only by the operator’s word', () => {
  expect([
    chooseAddress(['10.0.0.1', '::1'], false),
    chooseAddress(['10.0.0.1', '1.1.1.1', '127.0.0.1'], false),
    chooseAddress([], false),
    chooseAddress(['10.0.0.1'], true),
  ]).toEqual([undefined, '1.1.1.1', undefined, '10.0.0.1'])
})
