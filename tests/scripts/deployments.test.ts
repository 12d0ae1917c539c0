// The files with which operators deploy the server: the Helm chart, compositions, the image.
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { parseConfig } from '../../server/config/load.ts'
import { renderChart } from '../support/helm-templates.ts'

const root = resolve(import.meta.dirname, '../..')
const chart = join(root, 'deploy/helm/nanoclaw')

/** What every object of Kubernetes has. */
const Manifest = z.looseObject({
  apiVersion: z.string().regex(/^(?:[a-z0-9.]+\/)?v\d\w*$/),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string().regex(/^[a-z0-9-]+$/) }),
})
const Deployment = z.object({
  spec: z.object({
    replicas: z.int(),
    strategy: z.union([
      z.strictObject({ type: z.literal('Recreate') }),
      z.strictObject({ rollingUpdate: z.object({ maxSurge: z.int(), maxUnavailable: z.int() }) }),
    ]),
    template: z.object({
      metadata: z.looseObject({ annotations: z.record(z.string(), z.string()) }),
      spec: z.looseObject({
        containers: z
          .array(
            z.looseObject({
              image: z.string(),
              env: z.array(z.object({ name: z.string(), value: z.string() })),
              ports: z.array(z.object({ name: z.string(), containerPort: z.int() })),
              volumeMounts: z.array(z.looseObject({ name: z.string(), mountPath: z.string() })),
            }),
          )
          .length(1),
        volumes: z.array(z.looseObject({ name: z.string() })),
      }),
    }),
  }),
})
const ConfigMap = z.object({ data: z.object({ 'config.yml': z.string() }) })

const manifests = (values: Record<string, unknown>) =>
  renderChart(chart, values).map((one) => Manifest.parse(one))
const kinds = (values: Record<string, unknown>) => manifests(values).map(({ kind }) => kind)
const only = <Schema extends z.ZodType>(
  schema: Schema,
  kind: string,
  values: Record<string, unknown>,
): z.output<Schema> => schema.parse(manifests(values).find((one) => one.kind === kind))

const image = { image: { repository: 'nanoclaw' } }
const several = {
  ...image,
  database: 'postgresql',
  replicas: 2,
  existingSecret: 'nanoclaw',
  publicUrl: 'https://chat.example.org',
}
const everything = {
  ...several,
  apps: { url: 'https://apps.chat.example.org' },
  isolation: 'bubblewrap',
  ingress: {
    enabled: true,
    host: 'chat.example.org',
    appsHost: 'apps.chat.example.org',
    tlsSecret: 'tls',
  },
  serviceMonitor: { enabled: true, labels: { release: 'prometheus' } },
  networkPolicy: { enabled: true },
}

test('the chart needs only an image: one instance on SQLite, a plain volume, and a configuration that the server accepts', () => {
  expect(kinds(image).sort()).toEqual([
    'ConfigMap',
    'Deployment',
    'PersistentVolumeClaim',
    'Service',
    'ServiceAccount',
  ])
  const { spec } = only(Deployment, 'Deployment', image)
  expect(spec).toMatchObject({ replicas: 1, strategy: { type: 'Recreate' } })
  const mounted = spec.template.spec.containers[0]?.volumeMounts.map(({ name }) => name)
  expect(mounted?.sort()).toEqual(spec.template.spec.volumes.map(({ name }) => name).sort())
  expect(manifests(image).find(({ kind }) => kind === 'PersistentVolumeClaim')).toMatchObject({
    spec: { accessModes: ['ReadWriteOnce'] },
  })
  const text = only(ConfigMap, 'ConfigMap', image).data['config.yml']
  const config = parseConfig(text, { JWT_SECRET: 'x'.repeat(40) })
  expect(config).toMatchObject({ db_type: 'sqlite', data_dir: '/data', auth_mode: 'multi' })
  expect(config.apps.enabled).toBe(false)
})

test('with several instances on PostgreSQL the chart has a migration, a budget and a volume for all; ports of apps, metrics and network rules as asked', () => {
  expect(kinds(everything).sort()).toEqual([
    'ConfigMap',
    'ConfigMap',
    'Deployment',
    'Ingress',
    'Job',
    'NetworkPolicy',
    'PersistentVolumeClaim',
    'PodDisruptionBudget',
    'Service',
    'ServiceAccount',
    'ServiceMonitor',
  ])
  const { spec } = only(Deployment, 'Deployment', everything)
  expect(spec.template.spec.containers[0]?.ports).toEqual([
    { name: 'http', containerPort: 3000 },
    { name: 'apps', containerPort: 3100 },
  ])
  expect(spec.template.spec).toMatchObject({
    hostUsers: false,
    securityContext: { seccompProfile: { type: 'Unconfined' } },
    containers: [{ securityContext: { procMount: 'Unmasked' } }],
  })
  const found = (kind: string) => manifests(everything).find((one) => one.kind === kind)
  expect(found('PersistentVolumeClaim')).toMatchObject({ spec: { accessModes: ['ReadWriteMany'] } })
  expect(found('Service')).toMatchObject({
    spec: { ports: [{ name: 'http' }, { name: 'apps', port: 3100, targetPort: 'apps' }] },
  })
  expect(found('Ingress')).toMatchObject({
    spec: {
      tls: [{ hosts: ['chat.example.org', 'apps.chat.example.org'], secretName: 'tls' }],
      rules: [{ host: 'chat.example.org' }, { host: 'apps.chat.example.org' }],
    },
  })
  expect(found('ServiceMonitor')).toMatchObject({
    metadata: { labels: { release: 'prometheus', 'app.kubernetes.io/name': 'nanoclaw' } },
    spec: { endpoints: [{ port: 'http', path: '/metrics', interval: '30s' }] },
  })
  expect(found('NetworkPolicy')).toMatchObject({
    spec: { policyTypes: ['Ingress'], ingress: [{ ports: [{ port: 'http' }, { port: 'apps' }] }] },
  })
  const text = only(ConfigMap, 'ConfigMap', everything).data['config.yml']
  const environment = {
    JWT_SECRET: 'x'.repeat(40),
    DATABASE_URL: 'postgresql://db/nanoclaw',
    REDIS_URL: 'redis://redis',
  }
  expect(parseConfig(text, environment)).toMatchObject({
    db_type: 'postgresql',
    apps: { enabled: true, port: 3100, url: 'https://apps.chat.example.org' },
    metrics_allow: ['10.244.0.0/16', '10.42.0.0/16'],
  })
})

test('the chart refuses what cannot work before anything is installed', () => {
  for (const [values, fault] of [
    [{}, /image\.repository is required/],
    [{ ...image, replicas: 2 }, /several replicas need database: postgresql/],
    [{ ...image, database: 'postgresql' }, /existingSecret is required/],
    [{ ...image, database: 'mysql' }, /database must be/],
    [{ ...image, isolation: 'docker' }, /isolation must be/],
    [{ ...image, ingress: { enabled: true } }, /ingress\.host is required/],
  ] as const)
    expect(() => renderChart(chart, values), JSON.stringify(values)).toThrow(fault)
})

const Service = z.looseObject({
  image: z.string().optional(),
  build: z.string().optional(),
  ports: z.array(z.string()).optional(),
  volumes: z.array(z.string()).optional(),
  labels: z.array(z.string()).optional(),
  environment: z.record(z.string(), z.unknown()).optional(),
  networks: z.never().optional(),
})
const Composition = z.looseObject({
  services: z.record(z.string(), Service),
  volumes: z.record(z.string(), z.unknown()).optional(),
})

test.each(['docker-compose.yml', 'deploy/traefik/docker-compose.yml'])(
  '%s has an image for each service, declares each named volume, and its variables of the server set keys',
  (file) => {
    const { services, volumes = {} } = Composition.parse(
      parse(readFileSync(join(root, file), 'utf8'), { merge: true, strict: true }),
    )
    for (const [name, service] of Object.entries(services)) {
      expect(service.image ?? service.build, name).toBeDefined()
      for (const volume of service.volumes ?? [])
        if (!/^[./]/.test(volume)) expect(Object.keys(volumes)).toContain(volume.split(':')[0])
    }
  },
)

test('Traefik leads to the page and, under a host of its own, to the apps', () => {
  const text = readFileSync(join(root, 'deploy/traefik/docker-compose.yml'), 'utf8')
  const { services } = Composition.parse(parse(text))
  const labels = Object.fromEntries(
    (services.nanoclaw?.labels ?? []).map((label) => label.split(/=(.*)/s, 2)),
  )
  for (const [router, port] of [
    ['nanoclaw', '3000'],
    ['apps', '3001'],
  ]) {
    const service = labels[`traefik.http.routers.${router}.service`]
    expect(labels[`traefik.http.services.${service}.loadbalancer.server.port`]).toBe(port)
  }
  expect(services.nanoclaw?.environment).toMatchObject({ NANOCLAW_APPS__PORT: 3001 })
})

test('programs of MCP servers have a home on the volume of the image, and uvx beside npx', () => {
  const text = readFileSync(join(root, 'Dockerfile'), 'utf8')
  expect(text).toMatch(/^ENV .*\bHOME=\/data\/home\b/m)
  expect(text).toMatch(/^COPY --from=uv \/uv \/uvx \/usr\/local\/bin\/$/m)
  expect(text).toMatch(/^ARG UV=\S+:\d+\.\d+\.\d+$/m)
})
