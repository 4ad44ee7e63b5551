import { BlockList, isIP } from 'node:net'

/**
 * Addresses that are not the public internet: this machine, private networks, cloud metadata, multicast, documentation,
 * and the IPv6 forms that carry an IPv4 address in them. From the IANA special-purpose registries.
 */
const ipv4Ranges: readonly [string, number][] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.31.196.0', 24],
  ['192.52.193.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['192.175.48.0', 24],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
  // Metadata and platform services that some clouds serve on public-looking addresses.
  ['168.63.129.16', 32],
  ['100.100.100.200', 32],
]

/** Only 2000::/3 is global unicast; within it, the ranges that lead elsewhere. */
const ipv6Global: readonly [string, number] = ['2000::', 3]
const ipv6Ranges: readonly [string, number][] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['2620:4f:8000::', 48],
  ['3fff::', 20],
]

const blocked = new BlockList()
for (const [network, prefix] of ipv4Ranges) blocked.addSubnet(network, prefix, 'ipv4')
for (const [network, prefix] of ipv6Ranges) blocked.addSubnet(network, prefix, 'ipv6')
const global6 = new BlockList()
global6.addSubnet(...ipv6Global, 'ipv6')

/** True for an address the proxy may dial without a special permission. Anything that is no address is not public. */
export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !blocked.check(address, 'ipv4')
    case 6:
      // A scope ("fe80::1%eth0") is link-local by nature, and mapped forms (::ffff:10.0.0.1) lie outside 2000::/3.
      return !address.includes('%') && global6.check(address, 'ipv6') && !blocked.check(address, 'ipv6')
    default:
      return false
  }
}
