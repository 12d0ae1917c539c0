// Reads the configuration: finds the file, parses, expands variables, validates. Every error is one line: path, found value,
// expected value.
import { existsSync, readFileSync } from 'node:fs'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { parse, YAMLParseError } from 'yaml'
import type { z } from 'zod'
import { errorText } from '../errors.ts'
import { isMissing } from '../lib/system-faults.ts'
import { crossFaults } from './load/cross-checks.ts'
import { describeIssue, formatPath } from './load/faults.ts'
import { isOptional, keysAt } from './load/keys.ts'
import { type Override, overridesIn, unknownVariablesIn } from './load/overrides.ts'
import { candidates, type DefaultFolders, type ImpliedFolders, type Places } from './load/places.ts'
import {
  type Environment,
  type Expanded,
  expandVariables,
  type MissingVariable,
  pathKey,
} from './load/variables.ts'
import { Config } from './schema.ts'

/** Thrown when the configuration is invalid; `faults` are lines for the operator without secrets. */
export class ConfigError extends Error {
  readonly faults: readonly string[]
  constructor(faults: readonly string[]) {
    super(faults.join('\n'))
    this.name = 'ConfigError'
    this.faults = faults
  }
}

/** Where a value comes from; a value that none of these gives is the default. */
export interface Source {
  from: 'file' | 'variable'
  /** The file that contains the value, or the name of the variable that overrides it. */
  place: string
  /** The variables that the value in the file, or a part of it, refers to. */
  references: readonly string[]
}

/** A configuration and where it comes from. */
export interface LoadedConfig {
  /** All paths are absolute. */
  config: Config
  /** Absolute; null if there is no file, and all keys have their defaults. */
  file: string | null
  /** The file whose values hold below it, as in the image; null if there is none. */
  presets: string | null
  /** Names of environment variables that look like those of keys but set none, with the names that they resemble. */
  unknownVariables: readonly { variable: string; similar: readonly string[] }[]
  /** The source of the value at a path, or of the list or section that it is in; null for a default. */
  sourceOf(path: readonly PropertyKey[]): Source | null
}

/**
 * A file whose values hold without a configuration, or unless the one in the data folder says otherwise. The image has one.
 */
const PRESETS = 'presets.yml'

/**
 * Loads the configuration of this process: presets of the installation, the file over or instead of them
 * (`load/places.ts` says which), over it environment variables (`load/overrides.ts`). Relative paths in a file are relative
 * to its folder, so that every command works on the same installation wherever it is started.
 * @throws ConfigError
 */
export function loadConfig(environment: Environment, places: Places): LoadedConfig {
  const { files, none } = candidates(environment, places)
  const presetFile = join(places.installation, PRESETS)
  const presets = readConfigFile(presetFile, false)
  const unknownVariables = unknownVariablesIn(environment)
  const below = presets === null ? [] : [{ text: presets, file: presetFile }]
  for (const { file, isNamed, hasPresets, folders } of files) {
    const text = readConfigFile(file, isNamed)
    if (text === null) continue
    const hasBelow = hasPresets && below.length > 0
    const layers = [...(hasBelow ? below : []), { text, file }]
    return {
      ...locate(read(layers, environment), folders, places, file),
      file,
      presets: hasBelow ? presetFile : null,
      unknownVariables,
    }
  }
  return {
    ...locate(read(below, environment), none, places, null),
    file: null,
    presets: below.length > 0 ? presetFile : null,
    unknownVariables,
  }
}

/** The configuration with absolute paths. @throws ConfigError if that leads away from existing data. */
function locate(
  { config, sourceOf }: Pick<LoadedConfig, 'config' | 'sourceOf'>,
  { defaults, formers }: ImpliedFolders,
  places: Places,
  file: string | null,
): Pick<LoadedConfig, 'config' | 'sourceOf'> {
  const folder = file === null ? places.installation : dirname(file)
  const absolute = withAbsolutePaths(config, folder, defaults, sourceOf)
  const faults = movedPaths(absolute, (key) => {
    if (sourceOf([key]) === null) return formers.map((each) => each[key])
    // A full path is a decision. A relative one led elsewhere in earlier versions, or is new in a file that had none.
    return isAbsolute(config[key]) ? [] : [resolve(places.current, config[key]), defaults[key]]
  })
  if (faults.length > 0)
    throw new ConfigError(faults.map((fault) => (file === null ? fault : `${file}: ${fault}`)))
  return { config: absolute, sourceOf }
}

function readConfigFile(file: string, mustExist: boolean): string | null {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (isMissing(error) && !mustExist) return null
    throw new ConfigError([`${file}: cannot be read (${errorText(error)})`])
  }
}

/**
 * Paths of an environment variable are relative to the same folder as those of the file. Programs of MCP servers start in
 * this folder, too, so that the files that their arguments name are found.
 */
function withAbsolutePaths(
  config: Config,
  folder: string,
  defaults: DefaultFolders,
  sourceOf: LoadedConfig['sourceOf'],
): Config {
  const absolute = (path: string): string => resolve(folder, path)
  const { db_sqlite_file: sqliteFile, code_execution: codeExecution, backup } = config
  const placeOf = (key: keyof DefaultFolders): string =>
    sourceOf([key]) === null ? defaults[key] : absolute(config[key])
  return {
    ...config,
    data_dir: placeOf('data_dir'),
    workspace_root: placeOf('workspace_root'),
    ...(config.skills_dir === undefined ? {} : { skills_dir: absolute(config.skills_dir) }),
    ...(backup?.to === undefined ? {} : { backup: { ...backup, to: absolute(backup.to) } }),
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
 * If nothing is where the configuration leads, but the data is where another rule led to, a start would silently begin with
 * an empty installation: earlier versions resolved relative paths against the current folder and took no data folder from
 * `NANOCLAW_DATA`.
 * @param formersOf absolute folders.
 */
function movedPaths(
  config: Config,
  formersOf: (key: keyof DefaultFolders) => readonly string[],
): string[] {
  return (['data_dir', 'workspace_root'] as const).flatMap((key) => {
    const path = config[key]
    const isUsed = (place: string): boolean =>
      TRACES[key].some((name) => existsSync(join(place, name)))
    if (isUsed(path)) return []
    const former = formersOf(key).find((place) => place !== path && isUsed(place))
    return former === undefined
      ? []
      : [
          `${key}: ${path} contains no data, but ${former} does: an earlier version, or another way to start this one, led there. Write \`${key}: ${former}\` to keep using it, \`${key}: ${path}\` to begin anew, or move it (the variable NANOCLAW_${key.toUpperCase()} does the same)`,
        ]
  })
}

/** Parses the YAML in `text`. `file` only appears in errors. Throws `ConfigError`. */
export const parseConfig = (text: string, environment: Environment, file = 'config.yml'): Config =>
  read([{ text, file }], environment).config

/** The text of a file of the configuration. */
interface Layer {
  text: string
  file: string
}

/** Reads layers, of which a later one overrides the earlier ones, and over all of them the environment. */
function read(
  layers: readonly Layer[],
  environment: Environment,
): Pick<LoadedConfig, 'config' | 'sourceOf'> {
  const overrides = overridesIn(environment)
  const trees = layers.map(({ text, file }) => readLayer(text, file, environment))
  const file = layers.at(-1)?.file ?? 'the configuration'
  const fail = (faults: readonly string[]): never => {
    throw new ConfigError(faults.map((fault) => placeOf(fault, overrides, file)))
  }
  const sourceOf = sourcesOf(
    trees.map((tree, index) => ({ ...tree, file: layers[index]?.file ?? file })),
    overrides,
  )
  const tree = overrides.reduce(
    (whole, { path, text }) => withValue(whole, path, text),
    trees.reduce<unknown>((whole, { value }) => merge(whole, value), {}),
  )
  const isSet = (path: readonly PropertyKey[]): boolean => valueAt(tree, path) !== undefined
  const missing = trees.flatMap((each) => each.missing).filter(({ path }) => !isSet(path))
  const isText = (path: readonly PropertyKey[]): boolean => {
    const source = sourceOf(path)
    return source?.from === 'variable' || (source?.references.length ?? 0) > 0
  }
  const unset = missing.filter((entry) => !mayBeAbsent(entry)).map(describeMissing)
  const checked = Config.safeParse(tree)
  const result = checked.success
    ? checked
    : Config.safeParse(convertTexts(tree, checked.error, isText))
  const named = new Set(missing.map(({ path }) => formatPath(path)))
  const faults = result.success
    ? [...new Set(crossFaults(result.data).map((line) => withVariable(line, missing)))]
    : result.error.issues
        .flatMap((issue) => describeIssue(issue, tree, keysAt))
        // Values whose variable is not set already have a line.
        .filter((line) => !named.has(line.split(': ')[0] ?? ''))
  if (unset.length > 0 || faults.length > 0) return fail([...unset, ...faults])
  return { config: result.success ? result.data : fail(faults), sourceOf }
}

function readLayer(text: string, file: string, environment: Environment): Expanded {
  const fail = (faults: readonly string[]): never => {
    throw new ConfigError(faults.map((fault) => `${file}: ${fault}`))
  }
  const expanded = expandVariables(readYaml(text, fail), environment)
  const { value = {} } = expanded
  return typeof value !== 'object' || Array.isArray(value)
    ? fail(['found a single value, expected keys such as `backend_port: 3000`'])
    : { ...expanded, value }
}

const isSection = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Sections are merged key by key; any other value replaces the one below it. */
function merge(below: unknown, above: unknown): unknown {
  if (!isSection(below) || !isSection(above)) return above
  const merged = new Map(Object.entries(below))
  for (const [key, value] of Object.entries(above)) merged.set(key, merge(merged.get(key), value))
  return Object.fromEntries(merged)
}

/** The tree with the value at a path. */
function withValue(tree: unknown, [key, ...rest]: readonly string[], value: unknown): unknown {
  if (key === undefined) return value
  const section = isSection(tree) ? tree : {}
  return { ...section, [key]: withValue(section[key], rest, value) }
}

/** Looks for the last layer that gives a value at a path or, for a value within a list, the list. */
function sourcesOf(
  layers: readonly (Expanded & { file: string })[],
  overrides: readonly Override[],
): LoadedConfig['sourceOf'] {
  return (path) => {
    const key = pathKey(path)
    const override = overrides.findLast((each) => `${key}\0`.startsWith(`${pathKey(each.path)}\0`))
    if (override !== undefined)
      return { from: 'variable', place: override.variable, references: [] }
    const layer = layers.findLast(({ value }) => valueAt(value, path) !== undefined)
    if (layer === undefined) return null
    const references = [...layer.references].flatMap(([at, names]) =>
      `${at}\0`.startsWith(`${key}\0`) ? names : [],
    )
    return { from: 'file', place: layer.file, references }
  }
}

function valueAt(tree: unknown, path: readonly PropertyKey[]): unknown {
  let node = tree
  for (const part of path) {
    if (typeof node !== 'object' || node === null) return undefined
    node = Reflect.get(node, part)
  }
  return node
}

/** A fault with where its value comes from: the variable that overrides the key, or the file. */
function placeOf(fault: string, overrides: readonly Override[], file: string): string {
  const override = overrides.find(({ path }) => fault.startsWith(`${formatPath(path)}: `))
  return override === undefined
    ? `${file}: ${fault}`
    : `the environment variable ${override.variable}: ${fault.slice(formatPath(override.path).length + 2)}`
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

const describeMissing = ({ path, variable }: MissingVariable): string =>
  `${formatPath(path)}: found \${${variable}}, but the environment variable ${variable} is not set; set it or write \${${variable}:-default}`

/** A key that is needed after all, and whose variable is not set: the line names the variable. */
function withVariable(line: string, missing: readonly MissingVariable[]): string {
  const entry = missing.find(({ path }) => line.startsWith(`${formatPath(path)}: found nothing`))
  return entry === undefined ? line : describeMissing(entry)
}

/** Whether the key is optional without a default. A model's key is an exception: without it every call would fail later. */
const mayBeAbsent = ({ path }: MissingVariable): boolean =>
  path.at(-1) !== 'api_key' && isOptional(path)

/** Variables are always text: converts it where the schema expects something else. */
function convertTexts(
  tree: unknown,
  error: z.ZodError,
  isText: (path: readonly PropertyKey[]) => boolean,
): unknown {
  const copy: unknown = structuredClone(tree)
  for (const issue of error.issues) {
    const { path } = issue
    if (!isText(path)) continue
    const holder = valueAt(copy, path.slice(0, -1))
    const key = path.at(-1)
    if (typeof holder !== 'object' || holder === null || key === undefined) continue
    const text: unknown = Reflect.get(holder, key)
    if (typeof text !== 'string') continue
    const expected = issue.code === 'invalid_type' ? issue.expected : ''
    Reflect.set(holder, key, readText(text, expected))
  }
  return copy
}

/** Lists are separated by commas, or written as in the file; sections as in the file. */
function readText(text: string, expected: string): unknown {
  if (text === 'true' || text === 'false') return text === 'true'
  if (['array', 'object', 'record'].includes(expected)) {
    if (expected === 'array' && !text.trimStart().startsWith('['))
      return text
        .split(',')
        .map((item) => item.trim())
        .filter((item) => item !== '')
    try {
      return parse(text, { maxAliasCount: 100 })
    } catch {
      // Not YAML: the error about the value says what is expected.
      return text
    }
  }
  const number = Number(text)
  return text.trim() !== '' && Number.isFinite(number) ? number : text
}
