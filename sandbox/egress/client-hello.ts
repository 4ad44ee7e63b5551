/**
 * What the first bytes of a tunnel say about the server they are meant for. `more`: not all of it has come yet. `other`:
 * these bytes are no TLS client hello, or one without a server name.
 */
export type HelloName = { kind: 'more' } | { kind: 'name'; name: string } | { kind: 'nameless' } | { kind: 'other' }

/** Reads the server name of a TLS ClientHello (RFC 8446 4.1.2, RFC 6066 3), which must lie in one record. */
export function readHelloName(bytes: Buffer): HelloName {
  if (bytes.byteLength >= 1 && bytes[0] !== 0x16) return { kind: 'other' }
  if (bytes.byteLength < 5) return { kind: 'more' }
  const end = 5 + bytes.readUInt16BE(3)
  if (bytes.byteLength < end) return { kind: 'more' }
  try {
    return nameOf(bytes.subarray(5, end))
  } catch (error) {
    // A length that points past the record: what cannot be read is not let through.
    if (error instanceof RangeError) return { kind: 'other' }
    throw error
  }
}

function nameOf(hello: Buffer): HelloName {
  if (hello.readUInt8(0) !== 0x01 || hello.readUIntBE(1, 3) + 4 !== hello.byteLength) return { kind: 'other' }
  let at = 4 + 2 + 32
  at += 1 + hello.readUInt8(at)
  at += 2 + hello.readUInt16BE(at)
  at += 1 + hello.readUInt8(at)
  if (at === hello.byteLength) return { kind: 'nameless' }
  const end = at + 2 + hello.readUInt16BE(at)
  for (at += 2; at + 4 <= end; ) {
    const [type, length] = [hello.readUInt16BE(at), hello.readUInt16BE(at + 2)]
    if (type === 0) return serverName(hello.subarray(at + 4, at + 4 + length))
    at += 4 + length
  }
  return { kind: 'nameless' }
}

function serverName(extension: Buffer): HelloName {
  const length = extension.readUInt16BE(3)
  const only = extension.readUInt16BE(0) === length + 3 && extension.readUInt8(2) === 0 && extension.byteLength === length + 5
  return only ? { kind: 'name', name: extension.toString('latin1', 5, 5 + length) } : { kind: 'other' }
}
