// Reads config.yml: parses, expands variables, validates. Every error is one line: path, found value, expected value.
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { parse, YAMLParseError } from 'yaml'
import type { z } from 'zod'
import { errorText } from '../errors.ts'
import { crossFaults } from './cross-checks.ts'
import { describeIssue, formatPath } from './faults.ts'
import { Config } from './schema.ts'
import { expandVariables, type MissingVariable, pathKey } from './variables.ts'

type Environment = Record<string, string | undefined>

/** Thrown when the configuration is invalid; `faults` are lines for the operator without secrets. */
export class ConfigError extends Error {
  readonly faults: readonly string[]
  constructor(faults: readonly string[]) {
    super(faults.join('\n'))
    this.name = 'ConfigError'
    this.faults = faults
  }
}

/** A configuration and where it comes from. */
export interface LoadedConfig {
  /** All paths are absolute. */
  config: Config
  /** Absolute; null if there is no file, and all keys have their defaults. */
  file: string | null
}

/**
 * Loads the configuration of this process: the file that `NANOCLAW_CONFIG` names (which must exist), else `config.yml` in
 * the current folder, else the one of the installation, else defaults. `HOST` and `PORT` override it. Relative paths in a
 * file, and the default paths, are relative to its folder, so that every command works on the same installation wherever it
 * is started; without a file, to the current folder.
 * @param places absolute folders: `current` is where the process was started, `installation` where the program is.
 * @throws ConfigError
 */
export function loadConfig(
  environment: Environment,
  places: { current: string; installation: string },
): LoadedConfig {
  // Empty means not set, as when a composition file passes on a variable that does not exist.
  const named = environment.NANOCLAW_CONFIG || undefined
  const candidates =
    named === undefined
      ? [join(places.current, 'config.yml'), join(places.installation, 'config.yml')]
      : [resolve(places.current, named)]
  for (const file of candidates) {
    const text = readConfigFile(file, named !== undefined)
    if (text === null) continue
    const config = parseConfig(text, environment, file)
    const faults = movedPaths(config, places.current, dirname(file))
    if (faults.length > 0) throw new ConfigError(faults.map((fault) => `${file}: ${fault}`))
    return { config: withAbsolutePaths(config, dirname(file)), file }
  }
  return {
    config: withAbsolutePaths(parseConfig('', environment), places.current),
    file: null,
  }
}

function readConfigFile(file: string, mustExist: boolean): string | null {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    const absent = (error as NodeJS.ErrnoException).code === 'ENOENT' // only the code tells the errors apart
    if (absent && !mustExist) return null
    throw new ConfigError([`${file}: cannot be read (${errorText(error)})`])
  }
}

/** Programs of MCP servers start in the folder, too, so that the files that their arguments name are found. */
function withAbsolutePaths(config: Config, folder: string): Config {
  const absolute = (path: string): string => resolve(folder, path)
  const { db_sqlite_file: sqliteFile, code_execution: codeExecution } = config
  return {
    ...config,
    data_dir: absolute(config.data_dir),
    workspace_root: absolute(config.workspace_root),
    ...(sqliteFile === undefined ? {} : { db_sqlite_file: absolute(sqliteFile) }),
    code_execution:
      codeExecution.packages_dir === undefined
        ? codeExecution
        : { ...codeExecution, packages_dir: absolute(codeExecution.packages_dir) },
    mcp_servers: Object.fromEntries(
      Object.entries(config.mcp_servers).map(([name, server]) => [
        name,
        server.command === undefined ? server : { ...server, cwd: absolute(server.cwd ?? '.') },
      ]),
    ),
  }
}

/** Files by which a folder of an installation is recognized. */
const TRACES = {
  data_dir: ['nanoclaw.db', 'secret.key', 'blobs'],
  workspace_root: ['.nanoclaw'],
} as const

/**
 * Earlier versions resolved relative paths against the current folder. If the data is still there and nothing is where
 * the file's own folder leads, a start would silently begin with an empty installation.
 */
function movedPaths(config: Config, current: string, folder: string): string[] {
  return (['data_dir', 'workspace_root'] as const).flatMap((key) => {
    const path = resolve(folder, config[key])
    const former = resolve(current, config[key])
    const isUsed = (place: string): boolean =>
      TRACES[key].some((name) => existsSync(join(place, name)))
    return former === path || isUsed(path) || !isUsed(former)
      ? []
      : [
          `${key}: ${path} contains no data, but ${former} does: paths are relative to the configuration file, no longer to the current folder. Write \`${key}: ${former}\` to keep using it, or move it`,
        ]
  })
}

/** Parses the YAML in `text`. `file` only appears in errors. Throws `ConfigError`. */
export function parseConfig(text: string, environment: Environment, file = 'config.yml'): Config {
  const fail = (faults: readonly string[]): never => {
    throw new ConfigError(faults.map((fault) => placeOf(fault, environment, file)))
  }
  const { value, expanded, missing } = expandVariables(readYaml(text, fail), environment)
  const tree = value ?? {}
  if (typeof tree !== 'object' || Array.isArray(tree))
    return fail(['found a single value, expected keys such as `backend_port: 3000`'])
  const withOverrides = { ...tree, ...overrides(environment) }
  const unset = missing.filter((entry) => !mayBeAbsent(entry)).map(describeMissing)
  const checked = Config.safeParse(withOverrides)
  const result = checked.success
    ? checked
    : Config.safeParse(convertExpanded(withOverrides, checked.error, expanded))
  const named = new Set(missing.map(({ path }) => formatPath(path)))
  const faults = result.success
    ? [...new Set(crossFaults(result.data).map((line) => withVariable(line, missing)))]
    : result.error.issues
        .flatMap((issue) => describeIssue(issue, withOverrides, keysAt))
        // Values whose variable is not set already have a line.
        .filter((line) => !named.has(line.split(': ')[0] ?? ''))
  if (unset.length > 0 || faults.length > 0) return fail([...unset, ...faults])
  return result.success ? result.data : fail(faults)
}

/** A fault with where its value comes from: the variable that overrides the key, or the file. */
function placeOf(fault: string, { HOST, PORT }: Environment, file: string): string {
  for (const [key, name, value] of [
    ['host: ', 'HOST', HOST],
    ['backend_port: ', 'PORT', PORT],
  ] as const)
    if (value && fault.startsWith(key))
      return `the environment variable ${name}: ${fault.slice(key.length)}`
  return `${file}: ${fault}`
}

/** The keys that a section may have. */
function keysAt(path: readonly PropertyKey[]): string[] {
  let schema: z.core.$ZodType | undefined = Config
  for (const part of path) schema = childSchema(schema, String(part))
  return Object.keys(shapeOf(schema))
}

function readYaml(text: string, fail: (faults: readonly string[]) => never): unknown {
  try {
    return parse(text, { maxAliasCount: 100 })
  } catch (error) {
    const firstLine = errorText(error).split('\n')[0] ?? ''
    const line = error instanceof YAMLParseError ? (error.linePos?.[0].line ?? '?') : '?'
    return fail([`line ${line}: not valid YAML: ${firstLine.replace(/:$/, '')}`])
  }
}

function overrides(environment: Environment): { host?: string; backend_port?: unknown } {
  const host = environment.HOST
  const port = environment.PORT
  return {
    ...(host === undefined || host === '' ? {} : { host }),
    ...(port === undefined || port === ''
      ? {}
      : { backend_port: /^\d+$/.test(port) ? Number(port) : port }),
  }
}

const describeMissing = ({ path, variable }: MissingVariable): string =>
  `${formatPath(path)}: found \${${variable}}, but the environment variable ${variable} is not set; set it or write \${${variable}:-default}`

/** A key that is needed after all, and whose variable is not set: the line names the variable. */
function withVariable(line: string, missing: readonly MissingVariable[]): string {
  const entry = missing.find(({ path }) => line.startsWith(`${formatPath(path)}: found nothing`))
  return entry === undefined ? line : describeMissing(entry)
}

/** Whether the key is optional without a default. A model's key is an exception: without it every call would fail later. */
function mayBeAbsent({ path }: MissingVariable): boolean {
  if (path.at(-1) === 'api_key') return false
  let schema: z.core.$ZodType | undefined = Config
  for (const part of path) schema = childSchema(schema, part)
  return schema?._zod.def.type === 'optional'
}

const childSchema = (
  schema: z.core.$ZodType | undefined,
  part: string | number,
): z.core.$ZodType | undefined => shapeOf(schema)[String(part)]

function shapeOf(schema: z.core.$ZodType | undefined): Record<string, z.core.$ZodType> {
  // The internal definition of zod schemas, read to find the schema at a path.
  const definition = schema?._zod.def as
    | { type: string; innerType?: z.core.$ZodType; shape?: Record<string, z.core.$ZodType> }
    | undefined
  if (definition?.innerType !== undefined) return shapeOf(definition.innerType)
  return definition?.shape ?? {}
}

/** Variables are always text: converts it where the schema expects a number or a boolean. */
function convertExpanded(tree: object, error: z.ZodError, expanded: ReadonlySet<string>): unknown {
  const copy: unknown = structuredClone(tree)
  for (const { path } of error.issues) {
    if (!expanded.has(pathKey(path))) continue
    let holder: unknown = copy
    for (const part of path.slice(0, -1)) holder = Reflect.get(Object(holder), part)
    const key = path.at(-1)
    if (typeof holder !== 'object' || holder === null || key === undefined) continue
    const text: unknown = Reflect.get(holder, key)
    if (typeof text === 'string') Reflect.set(holder, key, readScalar(text))
  }
  return copy
}

function readScalar(text: string): unknown {
  if (text === 'true' || text === 'false') return text === 'true'
  const number = Number(text)
  return text.trim() !== '' && Number.isFinite(number) ? number : text
}
