/** One metric: its labels, each with the values that are known beforehand and so are shown as 0; null: they are not. */
export type MetricRow = {
  type: 'counter' | 'gauge' | 'histogram'
  help: string
  labels?: Readonly<Record<string, readonly string[] | null>>
  /** Of a histogram. */
  buckets?: readonly number[]
}
export type MetricTable = Readonly<Record<string, MetricRow>>

/** A name that is not in the table, or not of that type, throws: it is a bug. */
export type Meters<Name extends string = string> = {
  count(name: Name, labels?: Readonly<Record<string, string>>, by?: number): void
  /** Null: it is not known now. */
  set(name: Name, value: number | null, labels?: Readonly<Record<string, string>>): void
  observe(name: Name, value: number): void
  /** All of it, in Prometheus's text format. */
  text(): Promise<{ contentType: string; text: string }>
}

/** Of a process that nobody asks. */
export const silentMeters: Meters = {
  count: () => undefined,
  set: () => undefined,
  observe: () => undefined,
  text: async () => ({ contentType: 'text/plain', text: '' }),
}

/** A registry of its own, so that two in one process count apart. The library is loaded here: most processes measure nothing. */
export async function openMeters<Table extends MetricTable>(table: Table): Promise<Meters<keyof Table & string>> {
  // By its default: a bundle keeps no other name of a package that is CommonJS.
  const { Counter, Gauge, Histogram, Registry } = (await import('prom-client')).default
  const registry = new Registry()
  const counters = new Map<string, InstanceType<typeof Counter>>()
  const gauges = new Map<string, InstanceType<typeof Gauge>>()
  const histograms = new Map<string, InstanceType<typeof Histogram>>()
  for (const [name, { type, help, labels = {}, buckets = [] }] of Object.entries<MetricRow>(table)) {
    const shape = { name, help, labelNames: Object.keys(labels), registers: [registry] }
    if (type === 'histogram') histograms.set(name, new Histogram({ ...shape, buckets: [...buckets] }))
    else if (type === 'gauge') gauges.set(name, new Gauge(shape))
    else counters.set(name, new Counter(shape))
    if (type === 'counter') for (const known of knownLabels(labels)) counters.get(name)?.inc(known, 0)
  }
  return {
    count: (name, labels = {}, by = 1) => existing(counters, name).inc(labels, by),
    // Not a number is what Prometheus shows as unknown; a value of before would pass for one of now.
    set: (name, value, labels = {}) => existing(gauges, name).set(labels, value ?? Number.NaN),
    observe: (name, value) => existing(histograms, name).observe(value),
    text: async () => ({ contentType: registry.contentType, text: await registry.metrics() }),
  }
}

function existing<Kind>(metrics: ReadonlyMap<string, Kind>, name: string): Kind {
  const metric = metrics.get(name)
  if (metric === undefined) throw new Error(`there is no such metric: ${name}`)
  return metric
}

function knownLabels(labels: NonNullable<MetricRow['labels']>): Record<string, string>[] {
  const entries = Object.entries(labels)
  if (entries.length === 0 || entries.some(([, values]) => values === null)) return []
  return entries.reduce<Record<string, string>[]>(
    (all, [name, values]) => all.flatMap(known => (values ?? []).map(value => ({ ...known, [name]: value }))),
    [{}],
  )
}
