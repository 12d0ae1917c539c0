// Routes for what apps of MCP servers do beside an answer: calls of tools, and what they tell the model of their state.
import { z } from 'zod'
import type { App } from '../../http/app.ts'
import { actorOf } from '../../http/audit.ts'
import { envelope } from '../../protocol/envelope.ts'
import { CallId, RunId } from '../../protocol/ids.ts'
import {
  McpAppCall,
  McpAppCallBody,
  McpAppCallDone,
  McpAppCallWaiting,
  McpAppContextBody,
} from '../../protocol/mcp-app.ts'
import type { Services } from '../../services.ts'
import { success } from '../envelope.ts'

const tags = ['runs']
const OfApp = z.object({ id: RunId, id_ref: CallId })

/** `/api/runs/:id/apps/:id_ref/…`. */
export function registerAppCallRoutes(
  app: App,
  { chat, apps }: Pick<Services, 'chat' | 'apps'>,
): void {
  app.post(
    '/api/runs/:id/apps/:id_ref/call',
    {
      schema: {
        summary: 'Call a tool for an app of an MCP server',
        description:
          'Only tools of the server of the app that it offers to apps (403 `not_for_apps`; 404 for every other). The same rules as for calls of models apply. 202: the call waits for a decision (`POST /api/runs/{id}/approvals`), also after the run has ended. At most 8 calls of a run run or wait at the same time (429).',
        tags,
        params: OfApp,
        body: McpAppCallBody,
        response: { 200: envelope(McpAppCallDone), 202: envelope(McpAppCallWaiting) },
      },
    },
    async (request, reply) => {
      const { user, params, body } = request
      apps.assertAllowed(user.id)
      const called = await chat.appCalls.call(
        user.id,
        params.id,
        { appRef: params.id_ref, tool: body.name, arguments: body.arguments },
        actorOf(request),
      )
      if (called.state === 'done') return success({ result: called.result })
      return await reply
        .code(202)
        .send(success({ approval_id: called.approvalId, id_ref: called.idRef }))
    },
  )

  app.get(
    '/api/runs/:id/apps/calls/:call_ref',
    {
      schema: {
        summary: 'Get what has become of a call of an app',
        tags,
        params: z.object({ id: RunId, call_ref: CallId }),
        response: { 200: envelope(McpAppCall) },
      },
    },
    async ({ user, params }) => {
      apps.assertAllowed(user.id)
      const found = await chat.appCalls.read(user.id, params.id, params.call_ref)
      return success({
        state: found.state,
        approval_id: found.state === 'waiting' ? found.approvalId : null,
        result: found.state === 'done' ? found.result : null,
      })
    },
  )

  app.put(
    '/api/runs/:id/apps/:id_ref/context',
    {
      schema: {
        summary: 'Store what an app of an MCP server tells the model of its state',
        description:
          'Replaces what it told before. The next message gives it to the model as text from outside.',
        tags,
        params: OfApp,
        body: McpAppContextBody,
        response: { 200: envelope(McpAppContextBody) },
      },
    },
    async ({ user, params, body }) => {
      apps.assertAllowed(user.id)
      await chat.appCalls.setContext(user.id, params.id, {
        appRef: params.id_ref,
        text: body.text,
      })
      return success(body)
    },
  )
}
