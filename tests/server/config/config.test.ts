// The configuration: defaults, environment variables, overrides, and one clear line for each error.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { ConfigError, loadConfig, parseConfig } from '../../../server/config/load.ts'
import { parseSize } from '../../../server/config/scalars.ts'
import { workspaceSettings } from '../../../server/config/settings.ts'

const faultsOf = (text: string, environment: Record<string, string> = {}): readonly string[] => {
  try {
    parseConfig(text, environment)
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.faults
    throw error
  }
}

test('project limits reach the module that enforces them, in its units', () => {
  const limits = {
    search_seconds: 0.5,
    file_read: '1MB',
    file_write: '2MB',
    project: '3MB',
    project_files: 4,
  }
  const checkpoints = { keep: 7, max_age_days: 8, max_size: '9MB' }
  const config = parseConfig(JSON.stringify({ limits, checkpoints }), {})
  const MB = 1024 * 1024
  expect(workspaceSettings(config)).toEqual({
    root: config.workspace_root,
    searchTimeoutMs: 500,
    limits: { fileRead: MB, fileWrite: 2 * MB, project: 3 * MB, entries: 4 },
    rule: { keep: 7, maxAgeDays: 8, maxBytes: 9 * MB },
  })
})

describe('defaults', () => {
  test('an empty file is a complete configuration', () => {
    const config = parseConfig('', {})
    expect(config).toMatchObject({
      host: '127.0.0.1',
      backend_port: 3000,
      max_iterations: 15,
      models: [],
      auth_mode: 'single',
      approval: { default: 'ask' },
      stream: { disconnect_grace: 600, idle_timeout: 120 },
      sub_agent: { max_iterations: 3, max_concurrency: 3, max_tokens: 4096, timeout: 60 },
      limits: { json_body: 10 * 1024 * 1024, message: 200_000, upload_files: 10_000 },
      network: { allow_private: [], allow_ports: [80, 443] },
      tools: { cache_ttl: 300, exec: { enabled: false } },
    })
    expect(config.limits.run_tokens).toBeUndefined()
  })

  test('a partial section keeps the defaults of the other keys', () => {
    const config = parseConfig('limits: {project: 2GB}\nstream:\n  disconnect_grace: 0\n', {})
    expect(config.limits.project).toBe(2 * 1024 ** 3)
    expect(config.limits.file_read).toBe(5 * 1024 ** 2)
    expect(config.stream).toEqual({ disconnect_grace: 0, idle_timeout: 120 })
  })

  test('a key without a value counts as unset', () => {
    expect(parseConfig('redis_url:\nlimits:\n', {}).redis_url).toBeUndefined()
  })

  test('HOST and PORT override the file', () => {
    const config = parseConfig('backend_port: 1\n', { HOST: '127.0.0.2', PORT: '8080' })
    expect([config.host, config.backend_port]).toEqual(['127.0.0.2', 8080])
    expect(() => parseConfig('', { PORT: 'x' })).toThrow(/variable PORT/)
  })
})

describe('sizes', () => {
  test.each([
    ['10MB', 10 * 1024 ** 2],
    ['1.5 KB', 1536],
    ['1gb', 1024 ** 3],
    [2048, 2048],
    ['ten', undefined],
    ['-1MB', undefined],
    [0, undefined],
    [null, undefined],
  ])('the size %j is read as %j bytes', (text, bytes) => expect(parseSize(text)).toBe(bytes))

  test('a message limit may be given in characters', () => {
    expect(parseConfig('limits: {message: 5000 characters}', {}).limits.message).toBe(5000)
  })
})

describe('variables', () => {
  test('a reference is replaced, with its default when the variable is not set', () => {
    const config = parseConfig('workspace_root: "${BASE}/w"\ndata_dir: ${DATA:-./d}\n', {
      BASE: '/srv',
    })
    expect([config.workspace_root, config.data_dir]).toEqual(['/srv/w', './d'])
  })

  test('a variable becomes a number or a boolean where the key expects one, and stays text elsewhere', () => {
    const config = parseConfig(
      'backend_port: ${P}\nsingle_user_remote: ${S}\ndb_password: ${W}\nmodels:\n  - {id: a, name: A, api_url: "http://127.0.0.1:1/v1", thinking: "${S}", max_tokens: "${P}"}\n',
      { P: '8081', S: 'true', W: '1234' },
    )
    expect(config.backend_port).toBe(8081)
    expect(config.single_user_remote).toBe(true)
    expect(config.db_password).toBe('1234')
    expect(config.models[0]).toMatchObject({ thinking: true, max_tokens: 8081 })
  })

  test('a value cannot inject YAML', () => {
    const config = parseConfig('db_name: ${NAME}\n', { NAME: 'a\nauth_mode: multi' })
    expect(config.db_name).toBe('a\nauth_mode: multi')
    expect(config.auth_mode).toBe('single')
  })

  test('a variable that is not set is reported with the key and the variable', () => {
    expect(
      faultsOf('models:\n  - {id: a, name: A, api_url: "${BASE}", api_key: "${NO_KEY}"}\n'),
    ).toEqual([
      expect.stringMatching(/models\[0\]\.api_url: .*BASE/),
      expect.stringMatching(/models\[0\]\.api_key: .*NO_KEY/),
    ])
    expect(faultsOf('workspace_root: ${NOPE}')).toEqual([
      expect.stringMatching(/workspace_root: .*NOPE/),
    ])
  })

  test('a variable that is not set leaves an optional key unset', () => {
    const config = parseConfig(
      'redis_url: ${NOPE}\npublic_url: ${NOPE}\nlimits: {run_tokens: "${NOPE}"}\n',
      {},
    )
    expect(config.redis_url).toBeUndefined()
    expect(config.public_url).toBeUndefined()
    expect(config.limits.run_tokens).toBeUndefined()
  })

  test('$${ stands for a literal ${', () => {
    expect(parseConfig('db_name: a$${B}', {}).db_name).toBe('a${B}')
  })
})

describe('faults', () => {
  test.each([
    ['nonsense: 1', 'nonsense: found an unknown key'],
    ['workspace_roots: x', 'expected only known keys; did you mean workspace_root?'],
    [
      'limits: {uplod: 1}',
      'limits.uplod: found an unknown key, expected only known keys; did you mean upload?',
    ],
    ['port: 3001', 'did you mean backend_port or frontend_port or db_port?'],
    [
      'models: [{id: a, api_ulr: "http://a.example"}]',
      'models[0].api_ulr: found an unknown key, expected only known keys; did you mean api_url?',
    ],
    ['mcp_servers: {a: {comand: x}}', 'did you mean command?'],
    [
      'models: [{id: a, name: A, api_url: nowhere}]',
      'expected a URL starting with http:// or https://',
    ],
    ['public_url: https://a.example/api/x', 'public_url: found a URL with the path "/api/x"'],
    ['limits: {speed: 1}', 'limits.speed: found an unknown key'],
    ['backend_port: many', 'backend_port: found "many", expected a number'],
    ['backend_port: 70000', 'backend_port: found 70000, expected a number of at most 65535'],
    ['max_iterations: 1.5', 'max_iterations: found 1.5, expected a whole number'],
    ['auth_mode: both', 'auth_mode: found "both", expected one of single, multi'],
    ['tool_max_workers: 17', 'tool_max_workers: found 17, expected a number of at most 16'],
    ['limits: {project: big}', 'limits.project: found "big", expected a size such as'],
    ['models: {}', 'models: found a section, expected a list'],
    ['models: [{id: a}]', 'models[0].api_url: found nothing'],
    ['public_url: chat.example', 'public_url: found a string of 12 characters, expected a URL'],
    [
      'cors_origins: ["http://a.b/path"]',
      'cors_origins[0]: found "http://a.b/path", expected an origin',
    ],
    ['mcp_servers: {a: {}}', 'mcp_servers.a: found a section, expected either `command`'],
    ['just text', 'found a single value'],
    ['a: [1', 'not valid YAML'],
    ['host: 0.0.0.0', 'host: found "0.0.0.0" with auth_mode single'],
    ['auth_mode: multi', 'jwt_secret: found nothing'],
    ['auth_mode: multi\njwt_secret: ${UNSET_SECRET}', 'jwt_secret: found ${UNSET_SECRET}'],
    ['auth_mode: multi\njwt_secret: short', 'jwt_secret: found a string of 5 characters'],
    [
      'auth_mode: multi\njwt_secret: nano-claw-default-secret-change-in-production',
      'jwt_secret: found a well-known example value',
    ],
    ['redis_url: "redis://127.0.0.1"', 'redis_url: found one with db_type sqlite'],
    ['web_search: {provider: brave}', 'web_search.api_key: found nothing'],
  ])('the configuration %j is reported as: %s', (text, line) => {
    expect(faultsOf(text).join('\n')).toContain(line)
  })

  test('a wrong variable is named instead of the file', () => {
    expect(faultsOf('', { PORT: 'abc' })).toEqual([
      'the environment variable PORT: found "abc", expected a number',
    ])
    expect(faultsOf('', { HOST: '0.0.0.0' })[0]).toMatch(/^the environment variable HOST: /)
  })

  test('each fault has its own line', () => {
    expect(faultsOf('backend_port: x\nnonsense: 1\nalso: 2\n')).toHaveLength(3)
  })

  test('no line shows a secret', () => {
    const lines = faultsOf(
      'auth_mode: multi\njwt_secret: abc-canary\nsmtp: {host: h, password: [canary], from: a@b}\nmodels: [{id: a, api_url: canary, api_key: {canary: 1}}]\n',
    )
    expect(lines.length).toBeGreaterThan(1)
    expect(lines.join('\n')).not.toContain('abc-canary')
    expect(lines.join('\n')).not.toContain('"canary"')
  })

  test('a missing file that NANOCLAW_CONFIG names is an error; an empty name means the default file', () => {
    const places = { current: '/nowhere', installation: '/nowhere' }
    expect(() => loadConfig({ NANOCLAW_CONFIG: '/nowhere/config.yml' }, places)).toThrow(
      ConfigError,
    )
    const { config } = loadConfig({ NANOCLAW_CONFIG: '' }, places)
    expect(config).toEqual(loadConfig({}, places).config)
  })

  describe('paths', () => {
    const root = mkdtempSync(join(tmpdir(), 'nanoclaw-config-'))
    afterAll(() => rmSync(root, { recursive: true }))
    const folder = (name: string): string => {
      mkdirSync(join(root, name), { recursive: true })
      return join(root, name)
    }

    test('in a file, and default paths, are relative to its folder, wherever the process starts', () => {
      const installation = folder('installation')
      const elsewhere = folder('elsewhere')
      const file = join(installation, 'config.yml')
      writeFileSync(
        file,
        `workspace_root: ../projects
db_sqlite_file: \${PLACE}/chat.db
code_execution: {packages_dir: wheels}
mcp_servers: {one: {command: x, cwd: tools}, two: {command: y}, three: {url: "http://127.0.0.1"}}
`,
      )
      const expected = {
        data_dir: join(installation, 'data'),
        workspace_root: join(root, 'projects'),
        db_sqlite_file: join(installation, 'db/chat.db'),
        code_execution: { packages_dir: join(installation, 'wheels') },
        mcp_servers: {
          one: { cwd: join(installation, 'tools') },
          two: { cwd: installation },
          three: { url: 'http://127.0.0.1' },
        },
      }
      const environments = [{}, { NANOCLAW_CONFIG: file }]
      for (const environment of environments)
        for (const current of [installation, elsewhere]) {
          const loaded = loadConfig({ PLACE: 'db', ...environment }, { current, installation })
          expect(loaded.file).toBe(file)
          expect(loaded.config).toMatchObject(expected)
        }
      const named = loadConfig(
        { PLACE: 'db', NANOCLAW_CONFIG: '../installation/config.yml' },
        { current: elsewhere, installation: elsewhere },
      )
      expect(named).toMatchObject({ file, config: expected })
    })

    test('without a file are beside the program, wherever the process starts', () => {
      const installation = folder('none')
      expect(loadConfig({}, { current: folder('empty'), installation })).toMatchObject({
        file: null,
        config: {
          data_dir: join(installation, 'data'),
          workspace_root: join(installation, 'workspaces'),
        },
      })
    })

    test('the file may be in the data folder, which stays where it is', () => {
      const installation = folder('own-data')
      writeFileSync(join(folder('own-data/data'), 'config.yml'), 'log_level: warn\n')
      expect(loadConfig({}, { current: folder('empty'), installation })).toMatchObject({
        file: join(installation, 'data/config.yml'),
        config: {
          log_level: 'warn',
          data_dir: join(installation, 'data'),
          workspace_root: join(installation, 'workspaces'),
        },
      })
    })

    test('is looked for in the current folder, the folder that NANOCLAW_DATA names, beside the program, and in its data folder, in this order', () => {
      const installation = folder('order')
      const current = folder('order-current')
      const home = folder('order-home')
      const inOrder = [current, home, installation].map((place) => join(place, 'config.yml'))
      for (const file of inOrder) writeFileSync(file, '')
      const found = (environment = {}) => loadConfig(environment, { current, installation }).file
      for (const file of inOrder) {
        expect(found({ NANOCLAW_DATA: home })).toBe(file)
        rmSync(file)
      }
      const last = join(folder('order/data'), 'config.yml')
      writeFileSync(last, '')
      expect(found()).toBe(last)
      writeFileSync(join(installation, 'config.yml'), '')
      expect(found()).toBe(join(installation, 'config.yml'))
    })

    test('with NANOCLAW_DATA, data, projects and the file are in that folder, unless the file says otherwise', () => {
      const data = folder('home')
      const places = { current: folder('empty'), installation: folder('program') }
      const load = () => loadConfig({ NANOCLAW_DATA: data }, places)
      expect(load()).toMatchObject({
        file: null,
        config: { data_dir: data, workspace_root: join(data, 'workspaces') },
      })
      writeFileSync(join(data, 'config.yml'), 'workspace_root: elsewhere\n')
      expect(load()).toMatchObject({
        file: join(data, 'config.yml'),
        config: { data_dir: data, workspace_root: join(data, 'elsewhere') },
      })
    })

    test.each([
      ['data_dir', 'data', 'nanoclaw.db'],
      ['workspace_root', 'workspaces', '.nanoclaw'],
    ])(
      '%s that still holds data where earlier versions looked for it refuses the start until it is decided',
      (key, name, trace) => {
        const installation = folder(`moved-${key}`)
        const current = folder(`service-${key}`)
        mkdirSync(join(current, name, trace), { recursive: true })
        const load = () => loadConfig({}, { current, installation })
        writeFileSync(join(installation, 'config.yml'), '')
        expect(load).toThrow(`Write \`${key}: ${join(current, name)}\``)
        writeFileSync(join(installation, 'config.yml'), `${key}: ${join(current, name)}`)
        expect(load().config).toMatchObject({ [key]: join(current, name) })
        // Once both exist, the file decides.
        writeFileSync(join(installation, 'config.yml'), '')
        mkdirSync(join(installation, name, trace), { recursive: true })
        expect(load().config).toMatchObject({ [key]: join(installation, name) })
      },
    )

    describe('in the image, which has always set NANOCLAW_DATA', () => {
      const trace = (place: string): string => {
        mkdirSync(join(root, place, 'blobs'), { recursive: true })
        return join(root, place)
      }

      test.each(['volume', 'image-data'])(
        'a file that NANOCLAW_CONFIG names in %s has its data beside it, as in earlier versions',
        (name) => {
          const file = join(folder(name), 'config.yml')
          writeFileSync(file, '')
          const installation = folder('app')
          const { config } = loadConfig(
            { NANOCLAW_CONFIG: file, NANOCLAW_DATA: join(root, 'image-data') },
            { current: installation, installation },
          )
          expect(config).toMatchObject({
            data_dir: join(root, name, 'data'),
            workspace_root: join(root, name, 'workspaces'),
          })
        },
      )

      test('data where another rule leads refuses the start until a full path is written', () => {
        const home = trace('used-home')
        const file = join(folder('named'), 'config.yml')
        const installation = folder('app')
        const load = (text: string, environment = {}) => {
          writeFileSync(file, text)
          return loadConfig(
            { NANOCLAW_CONFIG: file, NANOCLAW_DATA: home, ...environment },
            { current: installation, installation },
          ).config.data_dir
        }
        expect(() => load('')).toThrow(`${file}: data_dir: ${join(root, 'named/data')} contains no`)
        expect(load(`data_dir: ${home}`)).toBe(home)
        expect(load(`data_dir: ${join(root, 'named/data')}`)).toBe(join(root, 'named/data'))
        expect(load('', { NANOCLAW_DATA_DIR: home })).toBe(home)
      })

      test.each([
        ['the program, whose file the image no longer has', 'old-app', null],
        ['a file that is mounted beside the program', 'mounted-app', 'config.yml'],
      ])('data beside %s refuses the start', (_, name, file) => {
        const installation = folder(name)
        if (file !== null) writeFileSync(join(installation, file), '')
        const former = trace(join(name, 'data'))
        for (const current of [installation, folder('empty')])
          expect(() =>
            loadConfig({ NANOCLAW_DATA: folder(`new-home-of-${name}`) }, { current, installation }),
          ).toThrow(`Write \`data_dir: ${former}\``)
      })

      test('a relative path in the file of the data folder leads away from data only when it is a full path', () => {
        const home = trace('home-with-copy')
        const installation = folder('app')
        const load = (text: string) => {
          writeFileSync(join(home, 'config.yml'), text)
          return loadConfig({ NANOCLAW_DATA: home }, { current: installation, installation })
        }
        expect(() => load('data_dir: ./data')).toThrow(`Write \`data_dir: ${home}\``)
        expect(load(`data_dir: ${join(home, 'data')}`).config.data_dir).toBe(join(home, 'data'))
      })
    })

    test.each([
      ['that NANOCLAW_DATA names', { NANOCLAW_DATA: 'inside' }, 'inside'],
      ['beside the program', {}, 'outside/data'],
    ])(
      'the file in the data folder %s implies the same, also for a command that starts there',
      (_, environment: Record<string, string>, name) => {
        const data = folder(name)
        writeFileSync(join(data, 'config.yml'), '')
        const variables = Object.fromEntries(
          Object.entries(environment).map(([key, value]) => [key, join(root, value)]),
        )
        const places = [folder('empty'), data].map((current) =>
          loadConfig(variables, { current, installation: join(root, 'outside') }),
        )
        expect(places[0]?.file).toBe(join(data, 'config.yml'))
        expect(places[1]).toMatchObject({ file: places[0]?.file, config: places[0]?.config })
      },
    )
  })

  test('a remote single-user server is allowed when the operator declares that something else protects it', () => {
    expect(faultsOf('host: 0.0.0.0\nsingle_user_remote: true')).toEqual([])
  })
})
