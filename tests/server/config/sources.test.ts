// Where values come from: presets of the image, the file, environment variables; and what `nanoclaw config` prints of them.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { describeConfig } from '../../../server/commands/config.ts'
import { describeInstallation } from '../../../server/commands/describe-installation.ts'
import { keysAt } from '../../../server/config/load/keys.ts'
import { ConfigError, loadConfig, parseConfig } from '../../../server/config/load.ts'

const root = resolve(import.meta.dirname, '../../..')
const example = readFileSync(join(root, 'config.example.yml'), 'utf8')

const scratch = mkdtempSync(join(tmpdir(), 'nanoclaw-sources-'))
afterAll(() => rmSync(scratch, { recursive: true }))
let count = 0
/** An installation with these files, and how its configuration is loaded. */
function install(files: Record<string, string>) {
  count += 1
  const installation = join(scratch, String(count))
  mkdirSync(installation)
  for (const [name, text] of Object.entries(files)) writeFileSync(join(installation, name), text)
  return {
    installation,
    load: (environment: Record<string, string> = {}) =>
      loadConfig(environment, { current: scratch, installation }),
  }
}

describe('config.example.yml', () => {
  test('explains every key, and a copy of it changes nothing', () => {
    const missing = (path: readonly string[]): string[] =>
      keysAt(path).flatMap((key) => {
        const isNamed = new RegExp(`(^|[\\s#{,(\`])${key}:|\`${key}\`|\\b${key}\\b`, 'm')
        return [
          ...(isNamed.test(example) ? [] : [[...path, key].join('.')]),
          ...missing([...path, key]),
        ]
      })
    // Addresses of public services, for tests and mirrors.
    expect(missing([]).filter((key) => !/^(web_search|weather)\.\w+_url$/.test(key))).toEqual([])
    expect(parseConfig(example, {})).toEqual(parseConfig('', {}))
  })

  test.each([
    { place: 'beside the program', name: 'config.yml' },
    { place: 'in the data folder beside the program', name: 'data/config.yml' },
    { place: 'in the folder that NANOCLAW_DATA names', name: 'home/config.yml', home: 'home' },
    {
      place: 'on the volume of the image',
      name: 'home/config.yml',
      home: 'home',
      presets: readFileSync(join(root, 'docker/presets.yml'), 'utf8'),
    },
  ])('a copy $place changes nothing', ({ name, home, presets }) => {
    const { installation, load } = install(presets === undefined ? {} : { 'presets.yml': presets })
    const environment = {
      JWT_SECRET: 'x'.repeat(40),
      PUBLIC_URL: '',
      ...(home === undefined ? {} : { NANOCLAW_DATA: join(installation, home) }),
    }
    const { config: without } = load(environment)
    expect(without.auth_mode).toBe(presets === undefined ? 'single' : 'multi')
    const file = join(installation, name)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, example)
    const copied = load(environment)
    expect(copied.file).toBe(file)
    expect(copied.config).toEqual(without)
  })
})

describe('environment variables', () => {
  test('set any key, in the type that it expects, over the file', () => {
    const { load } = install({ 'config.yml': 'log_level: debug\nlimits: {project: 2GB}\n' })
    const { config } = load({
      NANOCLAW_LOG_LEVEL: 'warn',
      NANOCLAW_MAX_ITERATIONS: '7',
      NANOCLAW_TOOLS__EXEC__ENABLED: 'true',
      NANOCLAW_LIMITS__FILE_READ: '1MB',
      NANOCLAW_TRUSTED_HOSTS: 'chat.lan, other.lan',
      NANOCLAW_NETWORK__ALLOW_PORTS: '[80, 8080]',
      NANOCLAW_MODELS: '[{id: a, name: A, api_url: "http://127.0.0.1:1/v1", api_key: k}]',
      NANOCLAW_PUBLIC_URL: '',
      // Of Kubernetes, for a service called `nanoclaw`.
      NANOCLAW_PORT: 'tcp://10.0.0.1:80',
      NANOCLAW_SERVICE_HOST: '10.0.0.1',
    })
    expect(config).toMatchObject({
      log_level: 'warn',
      max_iterations: 7,
      tools: { exec: { enabled: true } },
      limits: { project: 2 * 1024 ** 3, file_read: 1024 ** 2 },
      trusted_hosts: ['chat.lan', 'other.lan'],
      network: { allow_ports: [80, 8080] },
      models: [{ id: 'a', api_key: 'k' }],
      backend_port: 3000,
    })
    expect(config.public_url).toBeUndefined()
    expect(load({ PORT: '1', NANOCLAW_BACKEND_PORT: '2' }).config.backend_port).toBe(2)
  })

  test('are named in the error about their value, which hides secrets', () => {
    const { load } = install({})
    const faults = (environment: Record<string, string>): readonly string[] => {
      try {
        load(environment)
        return []
      } catch (error) {
        if (error instanceof ConfigError) return error.faults
        throw error
      }
    }
    expect(faults({ NANOCLAW_MAX_ITERATIONS: 'many' })).toEqual([
      'the environment variable NANOCLAW_MAX_ITERATIONS: found "many", expected a number',
    ])
    expect(faults({ NANOCLAW_AUTH_MODE: 'multi', NANOCLAW_JWT_SECRET: 'tooshort' })).toEqual([
      expect.stringMatching(/^the environment variable NANOCLAW_JWT_SECRET: (?!.*tooshort)/),
    ])
  })
})

test('a variable that resembles that of a key, but sets none, is named by every command', () => {
  const { load } = install({ 'config.yml': '' })
  const loaded = load({
    NANOCLAW_LOGLEVEL: 'debug',
    NANOCLAW_LIMITS__PROJEKT: '1GB',
    NANOCLAW_LIMITS__PROJECT: '1GB',
    // Of Kubernetes, for a service called nanoclaw, and of somebody else.
    NANOCLAW_PORT: 'tcp://10.0.0.1:3000',
    NANOCLAW_SERVICE_HOST: '10.0.0.1',
    NANOCLAW_PORT_3000_TCP_PROTO: 'tcp',
    NANOCLAW_DATA: '',
    OTHER_LOGLEVEL: 'debug',
  })
  expect(describeInstallation(loaded).slice(4)).toEqual([
    'The environment variable NANOCLAW_LOGLEVEL sets no key; did you mean NANOCLAW_LOG_LEVEL?',
    'The environment variable NANOCLAW_LIMITS__PROJEKT sets no key; did you mean NANOCLAW_LIMITS__PROJECT?',
  ])
})

describe('presets.yml beside the program', () => {
  const JWT_SECRET = 'x'.repeat(40)
  const presets =
    'host: 0.0.0.0\nauth_mode: multi\njwt_secret: ${JWT_SECRET}\nlimits: {upload_files: 5, page_items: 200}\n'
  const preset = { host: '0.0.0.0', auth_mode: 'multi', jwt_secret: JWT_SECRET }

  test('holds unless the file in the data folder says otherwise', () => {
    const { installation, load } = install({ 'presets.yml': presets })
    mkdirSync(join(installation, 'home'))
    const environment = { JWT_SECRET, NANOCLAW_DATA: join(installation, 'home') }
    expect(load(environment).config).toMatchObject({ ...preset, limits: { upload_files: 5 } })
    writeFileSync(join(installation, 'home/config.yml'), 'limits: {upload_files: 6}\n')
    expect(load(environment).config).toMatchObject({
      ...preset,
      limits: { upload_files: 6, page_items: 200 },
    })
    expect(load({ ...environment, NANOCLAW_HOST: '127.0.0.1' }).config.host).toBe('127.0.0.1')
    // Every command says that they hold.
    expect(describeInstallation(load(environment))[0]).toBe(
      `configuration: ${installation}/home/config.yml, over ${installation}/presets.yml`,
    )
  })

  test('does not hold below files that earlier versions of the image read: a named one, also in the data folder, and one beside the program', () => {
    const { installation, load } = install({ 'presets.yml': presets })
    mkdirSync(join(installation, 'home'))
    const environment = { JWT_SECRET, NANOCLAW_DATA: join(installation, 'home') }
    const complete = { host: '127.0.0.1', auth_mode: 'single', limits: { page_items: 100 } }
    for (const name of ['named.yml', 'home/config.yml']) {
      const file = join(installation, name)
      writeFileSync(file, 'log_level: warn\n')
      expect(load({ ...environment, NANOCLAW_CONFIG: file }).config).toMatchObject(complete)
      rmSync(file)
    }
    writeFileSync(join(installation, 'config.yml'), 'log_level: warn\n')
    expect(load(environment).config).toMatchObject(complete)
  })
})

describe('nanoclaw config', () => {
  test('prints each value with its source, as YAML, without secrets', () => {
    const { load, installation } = install({
      'config.yml': `public_url: \${ADDRESS}
models:
  - {id: a, name: A, api_url: "http://127.0.0.1:1/v1", api_key: key, headers: {x-gate: gated, accept: text/plain}}
db_password: pw
db_type: postgresql
database_url: postgresql://me:short@db/chat
mcp_servers:
  files: {command: run, args: ["--token=\${TOKEN}"], env: {PLACE: tucked}}
`,
    })
    const loaded = load({
      ADDRESS: 'https://chat.example.org',
      TOKEN: 'tokentoken',
      NANOCLAW_SMTP: '{host: mail, from: a@b, password: mailword}',
      PORT: '8080',
    })
    const file = join(installation, 'config.yml')
    const lines = describeConfig(loaded, { changedOnly: false })
    const text = lines.join('\n')
    expect(lines).toContain('backend_port: 8080 # environment variable PORT')
    expect(lines).toContain(`public_url: https://chat.example.org # ${file}, \${ADDRESS}`)
    expect(lines).toContain('log_level: info # default')
    expect(lines).toContain('    enabled: false # default')
    expect(text).toMatch(/^database_url: "?postgresql:\/\/me:\[secret\]@db\/chat"? # \//m)
    expect(text).not.toMatch(/: key\b|gated|\bpw\b|short|tokentoken|tucked|mailword/)
    expect(text).toContain('text/plain')
    expect(Object.keys(parse(text))).toContain('limits')
    const changed = describeConfig(loaded, { changedOnly: true })
    expect(changed.filter((line) => /^\w/.test(line)).map((line) => line.split(':')[0])).toEqual([
      'backend_port',
      'public_url',
      'models',
      'db_type',
      'db_password',
      'database_url',
      'smtp',
      'mcp_servers',
    ])
  })
})
