/**
 * What a repository without a config file is set up and checked with, one row an ecosystem. Pure: it sees the names at
 * the root and the few files it asks for. Whatever it finds is labelled "detected" wherever it is shown.
 */
export type RootView = { names: ReadonlySet<string>; read(name: string): string | null }
export type Detected = { ecosystem: string; setup: readonly string[]; checks: readonly string[]; hosts: readonly string[] }

type Row = { ecosystem: string; hosts: readonly string[]; detect(root: RootView): { setup: string[]; checks: string[] } | null }

export const detectionTable: readonly Row[] = [
  {
    ecosystem: 'npm',
    hosts: ['registry.npmjs.org:443'],
    detect(root) {
      const manifest = parseJson(root.read('package.json'))
      if (!manifest) return null
      const test = scriptOf(manifest, 'test')
      // The placeholder `npm init` writes always fails: it is no check.
      const checks = test && !test.includes('no test specified') ? ['npm test'] : []
      return { setup: npmSetup(root, manifest), checks }
    },
  },
  {
    ecosystem: 'python',
    hosts: ['pypi.org:443', 'files.pythonhosted.org:443'],
    detect(root) {
      const configured =
        root.names.has('pytest.ini') ||
        /\[tool\.pytest/.test(root.read('pyproject.toml') ?? '') ||
        /\[tool:pytest\]/.test(root.read('setup.cfg') ?? '')
      const python =
        configured ||
        ['pyproject.toml', 'setup.py', 'requirements.txt'].some(name => root.names.has(name)) ||
        [...root.names].some(isPythonTest)
      if (!python) return null
      const tests = configured || root.names.has('tests') || root.names.has('test') || [...root.names].some(isPythonTest)
      const setup = root.names.has('requirements.txt') ? [pipInstall] : []
      return { setup, checks: tests ? ['python3 -m pytest -q'] : [] }
    },
  },
  {
    ecosystem: 'go',
    hosts: ['proxy.golang.org:443', 'sum.golang.org:443'],
    // Without -v it only says which packages passed, and a test that went away would not be missed.
    detect: root =>
      root.names.has('go.mod') ? { setup: root.names.has('go.sum') ? ['go mod download'] : [], checks: ['go test -v ./...'] } : null,
  },
  {
    ecosystem: 'make',
    hosts: [],
    detect(root) {
      // The order in which make itself looks.
      const makefile = root.read('GNUmakefile') ?? root.read('makefile') ?? root.read('Makefile')
      const targets = makefile === null ? [] : targetsOf(makefile)
      const target = ['test', 'check'].find(name => targets.includes(name))
      return target ? { setup: [], checks: [`make ${target}`] } : null
    },
  },
]

/** Debian's pip refuses to install beside its own packages unless told; here they go into a home that lives for one task. */
const pipInstall = 'PIP_BREAK_SYSTEM_PACKAGES=1 python3 -m pip install --user -r requirements.txt'

/** The first row that has checks; else the first that matched; null when nothing is known. */
export function detectCommands(root: RootView): Detected | null {
  const found = detectionTable.flatMap(({ ecosystem, hosts, detect }) => {
    const commands = detect(root)
    return commands ? [{ ecosystem, hosts, ...commands }] : []
  })
  return found.find(({ checks }) => checks.length > 0) ?? found[0] ?? null
}

/** The names before a rule's colon; `name := value` is a variable. */
function targetsOf(makefile: string): string[] {
  return [...makefile.matchAll(/^([\w.-][^:=#\n]*):(?!:?=)/gm)].flatMap(rule => (rule[1] ?? '').trim().split(/[ \t]+/))
}

function npmSetup(root: RootView, manifest: Record<string, unknown>): string[] {
  if (root.names.has('package-lock.json') || root.names.has('npm-shrinkwrap.json')) return ['npm ci']
  return hasKeys(manifest['dependencies']) || hasKeys(manifest['devDependencies']) ? ['npm install --no-package-lock'] : []
}

function hasKeys(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length > 0
}

function scriptOf(manifest: Record<string, unknown>, name: string): string | null {
  const scripts = manifest['scripts']
  if (typeof scripts !== 'object' || scripts === null) return null
  const script = (scripts as Record<string, unknown>)[name]
  return typeof script === 'string' ? script : null
}

function parseJson(text: string | null): Record<string, unknown> | null {
  if (text === null) return null
  try {
    // npm takes a byte order mark too.
    const value: unknown = JSON.parse(text.replace(/^\ufeff/, ''))
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null
  } catch {
    // A manifest that is no JSON detects nothing; the missing check is then said in the result.
    return null
  }
}

function isPythonTest(name: string): boolean {
  return /^test_.*\.py$|_test\.py$/.test(name)
}
