// Routes for adding a provider: the presets of the setup page, and the probe of what a provider supports.
import { z } from 'zod'
import type { App } from '../../http/app.ts'
import type { ModelProbe } from '../../llm/probe/probe.ts'
import { envelope } from '../../protocol/envelope.ts'
import { ModelPreset, ProbeBody, ProbeReport } from '../../protocol/models/catalog.ts'
import { success } from '../envelope.ts'

/** The dependencies of the routes for setting up a model. */
export interface ModelSetupDependencies {
  probe: ModelProbe['probe']
  listPresets(): Promise<ModelPreset[]>
}

/** `GET /api/admin/models/presets` and `POST /api/admin/models/probe`. */
export function registerModelSetupRoutes(app: App, dependencies: ModelSetupDependencies): void {
  app.get(
    '/api/admin/models/presets',
    {
      config: { admin: true },
      schema: {
        summary: 'List known providers; marks a local Ollama that is running',
        response: { 200: envelope(z.array(ModelPreset)) },
      },
    },
    async () => success(await dependencies.listPresets()),
  )

  app.post(
    '/api/admin/models/probe',
    {
      config: { admin: true },
      schema: {
        summary: 'Probe a provider with a few tiny requests',
        body: ProbeBody,
        response: { 200: envelope(ProbeReport) },
      },
    },
    async ({ body, raw }) => {
      const disconnected = new AbortController()
      const onClose = () => disconnected.abort()
      raw.socket.once('close', onClose)
      try {
        const target = {
          api_url: body.api_url,
          api_key: body.api_key ?? undefined,
          headers: body.headers ?? undefined,
          api: body.api ?? undefined,
          upstream_model: body.upstream_model ?? undefined,
        }
        return success(await dependencies.probe(target, disconnected.signal))
      } finally {
        raw.socket.off('close', onClose)
      }
    },
  )
}
