/**
 * Git can only say "hook declined" for a ref its update hook refused; GitHub's servers give a reason there. This puts the
 * reasons into the report of a push: pkt-lines, the report itself again pkt-lines within side band 1.
 */
export function rewriteReport(body: Buffer, reasons: ReadonlyMap<string, string>): Buffer {
  if (reasons.size === 0) return body
  const packets = splitPackets(body)
  const report = Buffer.concat(packets.filter(packet => packet?.[0] === 1).map(packet => (packet as Buffer).subarray(1)))
  const lines = splitPackets(report).map(line => (line ? withReason(line, reasons) : null))
  const others = packets.filter(packet => packet !== null && packet[0] !== 1)
  const encoded = Buffer.concat(lines.map(encodePacket))
  return Buffer.concat([...others.map(encodePacket), encodePacket(Buffer.concat([Buffer.from([1]), encoded])), encodePacket(null)])
}

function withReason(line: Buffer, reasons: ReadonlyMap<string, string>): Buffer {
  const found = /^ng (\S+) hook declined\n?$/.exec(line.toString())
  const reason = found && reasons.get(found[1] ?? '')
  return reason ? Buffer.from(`ng ${found[1]} ${reason}\n`) : line
}

/** Null stands for a flush packet. */
function splitPackets(bytes: Buffer): (Buffer | null)[] {
  const packets: (Buffer | null)[] = []
  for (let at = 0; at + 4 <= bytes.length; ) {
    const length = Number.parseInt(bytes.subarray(at, at + 4).toString(), 16)
    if (Number.isNaN(length)) throw new Error('the push report is not made of pkt-lines')
    packets.push(length === 0 ? null : bytes.subarray(at + 4, at + length))
    at += Math.max(length, 4)
  }
  return packets
}

function encodePacket(packet: Buffer | null): Buffer {
  if (!packet) return Buffer.from('0000')
  return Buffer.concat([Buffer.from((packet.length + 4).toString(16).padStart(4, '0')), packet])
}
