// Every key of config.yml with its type, default and meaning. docs/operations.md and config.example.yml follow this file.
import { z } from 'zod'
import { MAX_INTEGER, TokenCount } from '../protocol/bounds.ts'
import { ApprovalMode } from '../protocol/conversations/conversation.ts'
import { PAGE_ITEMS } from '../protocol/envelope.ts'
import { ModelSettings } from '../protocol/models/catalog.ts'
import { McpServerName, McpServerSettings } from '../protocol/models/mcp.ts'
import { RiskLevel } from '../protocol/runs/run-event.ts'
import {
  AddressRange,
  CallingOrigin,
  Characters,
  Duration,
  HttpUrl,
  Origin,
  Port,
  ProxyAddresses,
  Size,
} from './scalars.ts'

/** An optional section; missing keys get their defaults. */
const section = <Shape extends z.core.$ZodLooseShape>(shape: Shape) =>
  z.strictObject(shape).prefault({} as never) // every key of a section has a default or is optional

const seconds = z.number().min(0)
const count = z.int().min(1).max(MAX_INTEGER)

const SubAgent = section({
  max_iterations: count.default(3),
  max_concurrency: count.max(16).default(3),
  max_tokens: TokenCount.default(4096),
  timeout: z.number().positive().default(60),
})

/** Limits of answers with the skill `research`, instead of `max_iterations`, `limits.run_minutes` and `sub_agent`. */
const Research = section({
  max_iterations: count.max(1000).default(40),
  minutes: z.number().positive().default(20),
  sub_agent: section({
    max_iterations: count.default(12),
    timeout: z.number().positive().default(300),
  }),
})

const Limits = section({
  /** Maximum bytes of a JSON body. */
  json_body: Size.prefault('10MB'),
  /** Maximum nesting depth of a JSON body. */
  json_depth: count.max(1_000).default(64),
  /** Items of one page of a list; the page of NanoClaw asks for 100. */
  page_items: z.int().min(PAGE_ITEMS).max(1_000).default(PAGE_ITEMS),
  /** Maximum characters of a message. */
  message: Characters.prefault(200_000),
  /** Maximum bytes of all attachments of a message. */
  attachments: Size.prefault('20MB'),
  /** Maximum seconds of a search of a project's files, for any pattern. */
  search_seconds: z.number().min(0.1).max(60).default(2),
  file_read: Size.prefault('5MB'),
  file_write: Size.prefault('20MB'),
  /** Maximum total bytes and number of files of an upload. */
  upload: Size.prefault('200MB'),
  upload_files: count.default(10_000),
  /** Maximum bytes of the file of an import, and of everything that is unpacked from it. */
  import: Size.prefault('2GB'),
  /** Maximum bytes of a project. */
  project: Size.prefault('1GB'),
  /** Maximum number of files, folders and links of a project; a snapshot of it holds at most 200,000. */
  project_files: count.max(200_000).default(100_000),
  /** Maximum bytes of all projects and documents of a user. */
  storage: Size.prefault('5GB'),
  runs_per_user: count.default(8),
  run_minutes: z.number().positive().default(10),
  /**
   * Minutes that a temporary conversation stays after its last answer while its user has a page open; otherwise a twentieth
   * of them.
   */
  temporary_minutes: z.number().positive().max(1_440).default(10),
  run_tokens: z.int().min(1).optional(),
  user_tokens_per_day: z.int().min(1).optional(),
  user_cost_per_month: z.number().positive().optional(),
  /** Accounts that one address may register per hour. */
  registrations_per_hour: count.default(20),
  /** Messages that a user's channels may send per hour; an email counts once per recipient. */
  channel_messages_per_hour: count.default(60),
  /** Concurrent event streams per user. */
  streams_per_user: count.default(1_000),
  /** Concurrent connections per address; `trusted_proxies` are exempt. */
  connections_per_address: count.default(1_500),
})

const Strictness = z.enum(['lenient', 'standard', 'strict'])

const CodeExecution = section({
  default_strictness: Strictness.default('standard'),
  extra_allowed_modules: z.partialRecord(Strictness, z.array(z.string().min(1))).prefault({}),
  isolation: z.enum(['auto', 'kernel', 'wasm']).default('auto'),
  engine: z.enum(['wasm', 'host']).default('wasm'),
  /** Warm interpreters, and the seconds after which unused ones are stopped. */
  pool_size: z.int().min(0).max(16).default(1),
  pool_idle: seconds.default(300),
  /** Folder of Python wheels that programs may import offline. */
  packages_dir: z.string().min(1).optional(),
})

const Tools = section({
  /** Seconds for which cacheable results are reused across runs; 0 disables the cache. */
  cache_ttl: seconds.default(300),
  disabled: z.array(z.string()).default([]),
  risk: z.record(z.string(), RiskLevel).default({}),
  /** If MCP servers offer a run more tools than this, the model finds them with `tool_search`. OpenAI accepts 128 tools. */
  listed_mcp_tools: z.int().min(0).max(128).default(40),
  exec: section({
    enabled: z.boolean().default(false),
    /** True: only the internet. `host`: everything this machine can reach, including loopback and this server. */
    network: z.union([z.boolean(), z.literal('host')]).default(false),
    isolation: z.enum(['auto', 'kernel']).default('auto'),
    /** Limits of a command together with everything it starts. */
    memory: Size.prefault('2GB'),
    processes: z.int().min(10).max(10_000).default(256),
  }),
})

const SearchProvider = z.enum(['duckduckgo', 'brave', 'searxng'])
const WebSearch = section({
  provider: SearchProvider.default('duckduckgo'),
  /** Tried in this order; overrides `provider`. */
  providers: z.array(SearchProvider).default([]),
  api_key: z.string().min(1).optional(),
  url: HttpUrl.optional(),
  duckduckgo_url: HttpUrl.optional(),
  brave_url: HttpUrl.optional(),
})

const Weather = section({
  provider: z.enum(['open-meteo', 'openweathermap']).default('open-meteo'),
  api_key: z.string().min(1).optional(),
  geocoding_url: HttpUrl.optional(),
  forecast_url: HttpUrl.optional(),
  openweathermap_url: HttpUrl.optional(),
})

const S3 = z.strictObject({
  /** The address of the service, without the bucket. */
  endpoint: HttpUrl,
  bucket: z.string().regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, { error: 'a bucket name' }),
  region: z.string().min(1).default('auto'),
  access_key_id: z.string().min(1),
  secret_access_key: z.string().min(1),
  /** A prefix of all object names, so that several servers can share a bucket. */
  prefix: z.string().max(500).default(''),
})

const ImageGeneration = z.strictObject({
  /** The API base, or the full `…/images/generations` URL. */
  api_url: HttpUrl,
  api_key: z.string().min(1).optional(),
  model: z.string().min(1),
  /** Maximum seconds for an image. */
  timeout: z.number().positive().max(600).default(180),
  /** Per image, or per million tokens where the service reports them. */
  price: z
    .strictObject({
      currency: z.string().min(1).max(10),
      image: z.number().min(0).optional(),
      input: z.number().min(0).optional(),
      output: z.number().min(0).optional(),
    })
    .optional(),
})

/** Per million tokens, for quotas and the usage page. */
const SearchPrice = z.strictObject({
  input: z.number().min(0),
  currency: z.string().min(1).max(10),
})

/** The API base, or the full URL of the endpoint. */
const speechService = {
  api_url: HttpUrl,
  api_key: z.string().min(1).optional(),
  model: z.string().min(1),
}
/** Per million tokens, for services that report them. */
const tokenPrice = {
  currency: z.string().min(1).max(10),
  input: z.number().min(0).optional(),
  output: z.number().min(0).optional(),
}
const Speech = section({
  /** Dictation. */
  transcribe: z
    .strictObject({
      ...speechService,
      price: z.strictObject({ ...tokenPrice, minute: z.number().min(0).optional() }).optional(),
    })
    .optional(),
  /** Reading aloud. */
  speak: z
    .strictObject({
      ...speechService,
      voice: z.string().min(1).max(100),
      /** `characters`: per million of them. */
      price: z.strictObject({ ...tokenPrice, characters: z.number().min(0).optional() }).optional(),
    })
    .optional(),
})

const Rerank = z.strictObject({
  /** The API base, or the full `…/rerank` URL. */
  api_url: HttpUrl,
  api_key: z.string().min(1).optional(),
  model: z.string().min(1),
  /** Passages of a search that are sent; the others keep their order behind them. */
  candidates: count.max(200).default(50),
  price: SearchPrice.optional(),
  /** `cohere`: also Jina, vLLM and others with this form. `tei`: Text Embeddings Inference. */
  form: z.enum(['cohere', 'tei']).default('cohere'),
})

const Oidc = z.strictObject({
  issuer: HttpUrl,
  client_id: z.string().min(1),
  /** If absent, a public client, protected by PKCE alone. */
  client_secret: z.string().min(1).optional(),
  /** Shown on the button of the sign-in page. */
  name: z.string().min(1).max(40).default('SSO'),
  scopes: z
    .string()
    .regex(/\bopenid\b/, { error: 'scopes that include openid' })
    .default('openid profile email'),
  claims: section({
    username: z.string().min(1).default('preferred_username'),
    email: z.string().min(1).default('email'),
    groups: z.string().min(1).default('groups'),
  }),
  admin_groups: z.array(z.string().min(1)).default([]),
  allowed_groups: z.array(z.string().min(1)).default([]),
  /** Maps a group name of the issuer to the name of a group here, whose members follow it at every sign-in. */
  groups: z.record(z.string().min(1), z.string().trim().min(1).max(100)).default({}),
  auto_create: z.boolean().default(true),
  link_by_email: z.boolean().default(false),
  /** If false, only `break_glass` may sign in with a password. */
  password_login: z.boolean().default(true),
  /** The user name of the administrator who may always sign in with a password. */
  break_glass: z.string().min(2).optional(),
})

/** The complete configuration: defaults applied, sizes in bytes, times in seconds. */
export const Config = z.strictObject({
  host: z.string().min(1).default('127.0.0.1'),
  backend_port: Port.default(3000),
  public_url: HttpUrl.optional(),
  trusted_hosts: z.array(z.string().min(1)).default([]),
  /**
   * Addresses of the reverse proxies whose `X-Forwarded-For` is believed. With `public_url`, those on this machine by
   * default; without it, none.
   */
  trusted_proxies: ProxyAddresses.optional(),
  frontend_port: Port.default(4000),
  cors_origins: z.array(CallingOrigin).optional(),
  /** Multi mode: whether everybody may see `/metrics`, `/docs` and `/openapi.json`. */
  public_reference: z.boolean().default(false),
  /** Multi mode: addresses and CIDR ranges that may see them without a token. */
  metrics_allow: z.array(AddressRange).default([]),
  log_level: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'silent']).default('info'),
  /** `auto`: readable lines at a terminal, JSON otherwise. */
  log_format: z.enum(['auto', 'json', 'text']).default('auto'),
  max_iterations: count.max(1000).default(15),
  tool_max_workers: count.max(16).default(4),
  sub_agent: SubAgent,
  research: Research,
  models: z.array(ModelSettings).default([]),
  default_model: z.string().min(1).optional(),
  /** Folder of the SQLite database, keys and snapshots. */
  data_dir: z.string().min(1).default('./data'),
  db_type: z.enum(['sqlite', 'postgresql']).default('sqlite'),
  /** `nanoclaw.db` in `data_dir` by default. */
  db_sqlite_file: z.string().min(1).optional(),
  db_host: z.string().min(1).default('127.0.0.1'),
  db_port: Port.default(5432),
  db_user: z.string().min(1).optional(),
  db_password: z.string().optional(),
  db_name: z.string().min(1).default('nanoclaw'),
  database_url: z
    .string()
    .regex(/^postgres(ql)?:\/\//, { error: 'a URL starting with postgresql://' })
    .optional(),
  redis_url: z
    .string()
    .regex(/^rediss?:\/\//, { error: 'a URL starting with redis:// or rediss://' })
    .optional(),
  /** A bucket of an S3-compatible service that stores the files of messages, instead of `data_dir`. */
  s3: S3.optional(),
  workspace_root: z.string().min(1).default('./workspaces'),
  /** A folder with skills for everybody, each a folder with a SKILL.md. */
  skills_dir: z.string().min(1).optional(),
  auth_mode: z.enum(['single', 'multi']).default('single'),
  single_user_remote: z.boolean().default(false),
  jwt_secret: z.string().optional(),
  registration: z.enum(['open', 'invite', 'closed']).default('open'),
  /**
   * Who may create the first account: `link`: only a person with the setup link; `local`: also a client on this machine.
   */
  first_administrator: z.enum(['local', 'link']).default('local'),
  oidc: Oidc.optional(),
  /** Days for which entries of the audit log are stored. */
  audit_days: count.default(365),
  /** Days after which copies of what a restore or an upgrade replaced are removed; null keeps them. */
  replaced_days: count.nullable().default(90),
  /** Backups that the server makes by itself: docs/operations.md. */
  backup: z
    .strictObject({
      every: Duration.prefault('1d'),
      /** The newest backups that stay. */
      keep: count.max(1_000).default(7),
      /** Their folder, best on another disk. Without it, they are only in the bucket `s3`. */
      to: z.string().min(1).optional(),
      /** A bucket of an S3-compatible service to which each backup is copied. */
      s3: S3.optional(),
      /** Free space on the disk of `to` that a backup leaves. */
      reserve: Size.prefault('1GB'),
    })
    .refine(({ to, s3 }) => to !== undefined || s3 !== undefined, {
      error: 'to (a folder) or s3 (a bucket), or both',
    })
    .optional(),
  /** Days for which the requests of runs to models are stored for the inspector; 0 stores none. */
  inspector_days: z.int().min(0).max(3_650).default(14),
  /** `off`: nobody can share a conversation, and every link is 404. */
  sharing: z.enum(['on', 'off']).default('on'),
  approval: section({
    default: ApprovalMode.default('ask'),
    /** Seconds after which the requests of unattended runs expire; null: never. */
    deadline: z.int().min(5).max(2_592_000).nullable().default(86_400),
    /** Whether a link can also approve calls of high risk. */
    link_high: z.boolean().default(false),
    /** Whether an answer at a messenger can also approve calls of high risk. */
    channel_high: z.boolean().default(false),
  }),
  /** Files of projects that run in a frame: docs/apps.md. */
  apps: section({
    enabled: z.boolean().default(true),
    /** The port of their own origin, of this process. Default: `backend_port` plus one; 0: none. */
    port: Port.optional(),
    /** The origin of that port as browsers see it, if it is behind a reverse proxy. */
    url: Origin.optional(),
  }),
  /** What runs by itself: docs/schedules.md. */
  schedules: section({
    enabled: z.boolean().default(true),
    /** Schedules of one account, unless its quota says otherwise. */
    max_per_user: count.default(50),
    /** Least seconds between two due times of a schedule. */
    min_interval: count.default(300),
    /** Hours after which a time that was missed is no longer caught up. */
    catch_up_hours: z.number().positive().max(8_760).default(24),
    /** Conversations of a schedule that makes one each time; older ones go to the trash. */
    keep_runs: count.max(1_000).default(50),
    /** Failures in a row after which a schedule is switched off. */
    max_failures: count.max(1_000).default(5),
  }),
  stream: section({
    disconnect_grace: seconds.default(600),
    idle_timeout: z.number().positive().default(120),
  }),
  titles: z.enum(['model', 'first_message', 'off']).default('model'),
  shutdown_grace: seconds.default(20),
  limits: Limits,
  checkpoints: section({
    keep: count.default(200),
    max_age_days: z.number().positive().default(30),
    max_size: Size.prefault('1GB'),
  }),
  smtp: z
    .strictObject({
      host: z.string().min(1),
      port: Port.default(587),
      user: z.string().optional(),
      password: z.string().optional(),
      from: z.string().min(3),
      /** Addresses and `@domains` that email channels may write to; all by default. */
      allowed_recipients: z.array(z.string().min(3)).optional(),
    })
    .optional(),
  /** OpenTelemetry traces of runs, without any text of conversations. */
  tracing: z
    .strictObject({
      endpoint: HttpUrl,
      headers: z.record(z.string(), z.string()).default({}),
      service_name: z.string().min(1).default('nanoclaw'),
    })
    .optional(),
  telegram: section({ api_url: HttpUrl.default('https://api.telegram.org') }),
  slack: section({ api_url: HttpUrl.default('https://slack.com/api') }),
  code_execution: CodeExecution,
  embeddings: z
    .strictObject({
      api_url: HttpUrl,
      api_key: z.string().optional(),
      model: z.string().min(1),
      price: SearchPrice.optional(),
    })
    .optional(),
  /** A service that orders the passages which `search_knowledge` has found. */
  rerank: Rerank.optional(),
  /** Dictation and reading aloud: docs/models.md. */
  speech: Speech,
  /** Enables the tool `generate_image`. */
  image_generation: ImageGeneration.optional(),
  tools: Tools,
  web_search: WebSearch,
  weather: Weather,
  network: section({
    allow_private: z.array(z.string().min(1)).default([]),
    allow_ports: z.array(Port).default([80, 443]),
  }),
  mcp_servers: z.record(McpServerName, McpServerSettings).default({}),
})
export type Config = z.infer<typeof Config>
