// Routes for adding a provider: the presets of the setup page, and the probe of what a provider supports.

import { z } from 'zod'
import type { App } from '../../http/app.ts'
import { withEnvironmentKey } from '../../llm/environment-keys.ts'
import { listPresets } from '../../llm/model-presets.ts'
import { envelope } from '../../protocol/envelope.ts'
import { ModelPreset, ProbeBody, ProbeReport } from '../../protocol/models/catalog.ts'
import type { Services } from '../../services.ts'
import { success } from '../envelope.ts'

/** `GET /api/admin/models/presets` and `POST /api/admin/models/probe`. */
export function registerModelSetupRoutes(
  app: App,
  { probe, environmentKeys }: Pick<Services, 'probe' | 'environmentKeys'>,
): void {
  app.get(
    '/api/admin/models/presets',
    {
      config: { admin: true },
      schema: {
        summary:
          'List known providers; marks a local Ollama that is running, and those whose key is in the environment',
        response: { 200: envelope(z.array(ModelPreset)) },
      },
    },
    async () => success(await listPresets(environmentKeys)),
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
        const target = withEnvironmentKey(
          {
            api_url: body.api_url,
            api_key: body.api_key ?? undefined,
            headers: body.headers ?? undefined,
            api: body.api ?? undefined,
            upstream_model: body.upstream_model ?? undefined,
          },
          environmentKeys,
        )
        return success(await probe.probe(target, disconnected.signal))
      } finally {
        raw.socket.off('close', onClose)
      }
    },
  )
}
