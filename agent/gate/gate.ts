import type { Decision, Grant } from '../../domain/index.ts'
import type { SessionLimits } from '../limits.ts'
import type { HookCall, HookVerdict, KillSwitch, PreToolHook } from '../ports.ts'
import { toolKinds } from '../tools/kinds.ts'
import { type ParsedCall, type ParseFailure, parseCall } from '../tools/parse-call.ts'
import type { Tool } from '../tools/tool.ts'
import { type GateTables, rowMatches } from './rows.ts'

export type GateContext = {
  tools: ReadonlyMap<string, Tool>
  grant: Grant
  tables: GateTables
  hooks: readonly PreToolHook[]
  killSwitch(): KillSwitch | Promise<KillSwitch>
  now(): number
  limits: SessionLimits
  signal: AbortSignal
}

export type RawCall = { name: string; arguments: string }

export type GateOutcome =
  | { kind: 'allowed'; decision: Decision; call: ParsedCall; notes: readonly string[] }
  /** `text` is what the model is told; `call` is null when the arguments could not be read. */
  | { kind: 'refused'; decision: Decision; call: ParsedCall | null; status: 'denied' | 'error'; text: string }

type Verdict =
  | { kind: 'next'; notes?: string[] }
  | { kind: 'decided'; decision: Decision }
  | { kind: 'rewrite'; input: unknown; by: string; notes: string[] }
type Step = { name: string; judge(call: ParsedCall, context: GateContext): Verdict | Promise<Verdict> }

const next: Verdict = { kind: 'next' }

/**
 * Decides one call. The order is fixed and every step fails closed: a step that throws refuses under its own name. What
 * is allowed here still runs in the sandbox, which asks nobody.
 */
export async function judgeCall(raw: RawCall, context: GateContext): Promise<GateOutcome> {
  const parsed = parseCall(raw, context.tools, context.limits)
  if (parsed.kind !== 'parsed') return unreadable(parsed)
  let call = parsed
  const notes: string[] = []
  let steps: readonly Step[] = allSteps
  for (let index = 0; index < steps.length; index++) {
    const step = steps[index] as Step
    const verdict = await judgeStep(step, call, context)
    if (verdict.kind === 'decided') return close(call, verdict.decision, notes)
    if (verdict.notes) notes.push(...verdict.notes)
    if (verdict.kind !== 'rewrite') continue
    const rewritten = parseCall({ name: call.tool.name, arguments: JSON.stringify(verdict.input) }, context.tools, context.limits)
    if (rewritten.kind !== 'parsed')
      return close(call, deny(`hook:${verdict.by}`, 'a hook rewrote the arguments into ones the tool does not take'), notes)
    call = rewritten
    // What the hook made has not been seen by the plan gate and the policy: they judge again, the hooks do not.
    if (steps === allSteps) {
      steps = stepsAfterRewrite
      index = -1
    }
  }
  return close(call, deny('gate', 'no step decided'), notes)
}

function unreadable(parsed: ParseFailure): GateOutcome {
  const decision = deny(parsed.kind === 'unknown-tool' ? 'unknown-tool' : 'schema', parsed.reason)
  return { kind: 'refused', decision, call: null, status: 'error', text: parsed.text }
}

function close(call: ParsedCall, decision: Decision, notes: readonly string[]): GateOutcome {
  if (decision.kind === 'allow') return { kind: 'allowed', decision, call, notes: [...call.notes, ...notes] }
  const text =
    decision.kind === 'ask'
      ? `Tool ${call.tool.name} was not executed: it needs an approval (${decision.reason}) and nobody can be asked in this run. Go on without it, or say in your answer what is needed.`
      : `Tool ${call.tool.name} was not executed: ${decision.reason} (rule ${decision.rule}).`
  return { kind: 'refused', decision: decision.kind === 'ask' ? { ...decision, kind: 'deny' } : decision, call, status: 'denied', text }
}

async function judgeStep(step: Step, call: ParsedCall, context: GateContext): Promise<Verdict> {
  try {
    return await step.judge(call, context)
  } catch (error) {
    return decided('deny', step.name, `the ${step.name} step of the gate failed: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** The schema step is `parseCall`: nothing else can be judged before the arguments are known. */
const killSwitch: Step = {
  name: 'kill-switch',
  async judge(call, context) {
    const state = await context.killSwitch()
    if (state.kind === 'clear') return next
    if (state.kind === 'pulled') return decided('deny', 'kill-switch', state.reason)
    const fresh = state.clearAt !== null && context.now() - state.clearAt <= context.limits.killSwitchStaleMs
    if (call.tool.readOnly && fresh) return next
    return decided('deny', 'kill-switch', 'the kill switch can not be read')
  },
}

const grant: Step = {
  name: 'grant',
  judge(call, context) {
    const missing = toolKinds[call.tool.kind].needs.find(capability => !context.grant.capabilities.includes(capability))
    return missing ? decided('deny', `grant:${missing}`, `this run was not granted "${missing}"`) : next
  },
}

const planGate: Step = {
  name: 'plan-gate',
  judge(call, context) {
    const row = context.tables.plan.find(candidate => rowMatches(candidate, call.subject))
    return row ? decided('deny', `plan-gate:${row.id}`, row.reason) : next
  },
}

const policy: Step = {
  name: 'policy',
  judge(call, context) {
    const row = context.tables.policy.find(candidate => rowMatches(candidate, call.subject))
    return row ? decided('deny', `policy:${row.id}`, row.reason) : next
  },
}

const hooks: Step = {
  name: 'hooks',
  async judge(call, context) {
    const notes: string[] = []
    let input: unknown = call.clientInput
    let by: string | null = null
    for (const hook of context.hooks) {
      const verdict = await runHook(hook, { name: call.tool.name, input }, context)
      if (verdict.kind === 'deny') return decided('deny', `hook:${hook.id}`, verdict.reason)
      if (verdict.kind === 'failed') notes.push(`hook ${hook.id} failed and was passed over: ${verdict.reason}`)
      // A later hook judges what an earlier one made of the call.
      if (verdict.kind === 'rewrite') {
        input = verdict.input
        by = hook.id
      }
    }
    return by === null ? { kind: 'next', notes } : { kind: 'rewrite', input, by, notes }
  },
}

/** A hook that does not come back in time is a broken one. */
async function runHook(hook: PreToolHook, call: HookCall, context: GateContext): Promise<HookVerdict> {
  const overtime = new AbortController()
  const { promise: late, resolve } = Promise.withResolvers<HookVerdict>()
  const timer = setTimeout(() => {
    overtime.abort()
    resolve({ kind: 'failed', reason: `no answer within ${context.limits.hookMs} ms` })
  }, context.limits.hookMs)
  try {
    return await Promise.race([hook.run(call, AbortSignal.any([context.signal, overtime.signal])), late])
  } finally {
    clearTimeout(timer)
  }
}

const rules: Step = {
  name: 'rules',
  judge(call, context) {
    const matching = context.tables.rules.filter(rule => rowMatches(rule, call.subject))
    const strictest =
      matching.find(rule => rule.verdict === 'deny') ??
      matching.find(rule => rule.verdict === 'ask') ??
      matching.find(rule => rule.verdict === 'allow')
    return strictest ? decided(strictest.verdict, `rule:${strictest.id}`, strictest.reason) : next
  },
}

const readOnly: Step = {
  name: 'read-only',
  judge: call => (call.tool.readOnly ? decided('allow', 'read-only', 'it changes nothing') : next),
}

const ask: Step = {
  name: 'ask',
  judge(call, context) {
    if (context.tables.unruled === 'ask') return decided('ask', 'ask:nobody', `no rule allows ${call.tool.name}`)
    const needs = toolKinds[call.tool.kind].needs
    return decided('allow', `grant:${needs.join('+')}`, 'the run was granted it and no rule speaks against it')
  },
}

const allSteps: readonly Step[] = [killSwitch, grant, planGate, policy, hooks, rules, readOnly, ask]
const stepsAfterRewrite: readonly Step[] = [killSwitch, grant, planGate, policy, rules, readOnly, ask]

function deny(rule: string, reason: string): Decision {
  return { kind: 'deny', rule, reason }
}

function decided(kind: Decision['kind'], rule: string, reason: string): Verdict {
  return { kind: 'decided', decision: { kind, rule, reason } }
}
