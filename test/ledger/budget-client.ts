import { openSqliteLedger } from '../../ledger/index.ts'
import { taskOf } from './samples.ts'

/** Accepts tasks under one budget, as quickly as it can, beside other processes that do the same; says which were accepted. */
export type BudgetPlan = { dataDir: string; client: string; tasks: number; microUsd: number; limitMicroUsd: number }

const plan: BudgetPlan = JSON.parse(process.argv[2] ?? '')
const ledger = openSqliteLedger({ dataDir: plan.dataDir, durability: 'process', clock: Date.now })
process.stdout.write('ready\n')
await new Promise(go => process.stdin.once('data', go))
const budgets = [{ key: 'repository:42:2027-01-15', microUsd: plan.microUsd, limitMicroUsd: plan.limitMicroUsd }]
const accepted: string[] = []
for (let index = 0; index < plan.tasks; index += 1) {
  const answer = await ledger.acceptTask(taskOf(`${plan.client}-${index}`, { budgets }))
  if (answer.kind === 'accepted') accepted.push(answer.taskId)
  // Gives the word to the others; alone it would be done before the next one wakes.
  await new Promise(resolve => setTimeout(resolve, 1))
}
await ledger.close()
process.stdout.write(`${JSON.stringify(accepted)}\n`)
process.stdin.unref()
