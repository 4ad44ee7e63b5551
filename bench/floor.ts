import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { Agent, request as httpRequest } from 'node:http'

/**
 * The floor under every figure of `bench/turn.ts`: a bare Node loop that asks the same model, reads its stream, reads the
 * same file or spawns the same command without any sandbox, and asks again. It records nothing and checks nothing.
 * Arguments: base URL, `file` or `command`, the repository.
 */
const [baseUrl = '', kind = 'file', folder = '.'] = process.argv.slice(2)
const agent = new Agent({ keepAlive: true, maxSockets: 1 })
const tools = ['read_file', 'run_terminal_command'].map(name => ({
  type: 'function',
  function: { name, description: name, parameters: { type: 'object', properties: {} } },
}))

type Call = { id: string; type: 'function'; function: { name: string; arguments: string } }

async function loop(): Promise<void> {
  // The bytes of a message are made once, as in the program that is measured.
  let sent = Buffer.from(
    `{"model":"bench","stream":true,"tools":${JSON.stringify(tools)},"messages":[${JSON.stringify({ role: 'user', content: 'go' })}`,
  )
  for (;;) {
    const call = readCall(await post(Buffer.concat([sent, Buffer.from(']}')])))
    if (call === null) break
    const content = kind === 'file' ? await readLines(call) : await runCommand(call)
    const answer = { role: 'assistant', content: null, tool_calls: [call] }
    sent = Buffer.concat([
      sent,
      Buffer.from(`,${JSON.stringify(answer)},${JSON.stringify({ role: 'tool', tool_call_id: call.id, content })}`),
    ])
  }
  agent.destroy()
}

function post(body: Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(`${baseUrl}/chat/completions`, {
      agent,
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer bench', 'content-length': body.byteLength },
    })
    request.on('error', reject)
    request.on('response', response => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', chunk => {
        text += chunk
      })
      response.on('end', () => (response.statusCode === 200 ? resolve(text) : reject(new Error(text))))
    })
    request.end(body)
  })
}

/** The one tool call of a stream, put together from its pieces. */
function readCall(stream: string): Call | null {
  let call: Call | null = null
  for (const event of stream.split('\n\n')) {
    if (!event.startsWith('data: {')) continue
    for (const piece of JSON.parse(event.slice(6)).choices?.[0]?.delta?.tool_calls ?? []) {
      call ??= { id: piece.id, type: 'function', function: { name: piece.function.name, arguments: '' } }
      call.function.arguments += piece.function?.arguments ?? ''
    }
  }
  return call
}

async function readLines(call: Call): Promise<string> {
  const { target_file, offset, limit } = JSON.parse(call.function.arguments)
  const lines = (await readFile(`${folder}/${target_file}`, 'utf8')).split('\n')
  const wanted = lines.slice(offset - 1, offset - 1 + limit)
  return wanted.map((line, index) => `${offset + index}→${line}`).join('\n')
}

function runCommand(call: Call): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn('bash', ['-c', JSON.parse(call.function.arguments).command], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', chunk => {
        output += chunk
      })
    }
    child.once('error', reject).once('close', code => resolve(`exit ${code}\n${output}`))
  })
}

loop()
