// Routes for MCP servers: their state, their prompts and resources, and signing in to them.

import { Readable } from 'node:stream'
import { z } from 'zod'
import type { App } from '../../http/app.ts'
import { FileInfo } from '../../protocol/conversations/file.ts'
import { Deleted, envelope } from '../../protocol/envelope.ts'
import {
  FilledMcpPrompt,
  McpCallbackBody,
  McpPromptBody,
  McpPromptList,
  McpResourceBody,
  McpResourceList,
  McpServerList,
  McpServerName,
  McpSignIn,
} from '../../protocol/models/mcp.ts'
import { expandUriTemplate } from '../../protocol/models/uri-template.ts'
import type { Services } from '../../services.ts'
import { clientMetadata } from '../../tools/mcp/oauth/sign-in.ts'
import { clientMetadataUrl } from '../../tools/mcp/oauth/stored-grants.ts'
import { success } from '../envelope.ts'
import { presentFile } from '../files/files.ts'
import { pageUrl } from '../page-url.ts'

const tags = ['tools']

/** The page that finishes a sign-in. It sends what the authorization server added to its address to the callback. */
const REDIRECT_PATH = '/settings/mcp'

/** `/api/mcp/…`, and the client metadata of this installation if it has a public address. */
export function registerMcpRoutes(
  app: App,
  services: Pick<Services, 'mcp' | 'files' | 'uploadSlots' | 'publicUrl'>,
): void {
  const { mcp } = services

  app.get(
    '/api/mcp',
    {
      schema: {
        summary: 'List MCP servers with their state and tools',
        tags,
        response: { 200: envelope(McpServerList) },
      },
    },
    async ({ user }) => {
      await mcp.prepare(user.id)
      return success({ servers: mcp.list(user.id) })
    },
  )

  registerPromptRoutes(app, services)
  registerResourceRoutes(app, services)
  registerSignInRoutes(app, services)
}

/** Prompts that people can insert into a message. */
function registerPromptRoutes(app: App, { mcp }: Pick<Services, 'mcp'>): void {
  app.get(
    '/api/mcp/prompts',
    {
      schema: {
        summary: 'List the prompts of MCP servers',
        tags,
        response: { 200: envelope(McpPromptList) },
      },
    },
    async ({ user }) => {
      await mcp.prepare(user.id)
      return success({ prompts: await mcp.prompts(user.id) })
    },
  )

  app.post(
    '/api/mcp/prompts/:server/:name',
    {
      schema: {
        summary: 'Fill in a prompt of an MCP server',
        tags,
        params: z.object({ server: McpServerName, name: z.string().min(1).max(500) }),
        body: McpPromptBody,
        response: { 200: envelope(FilledMcpPrompt) },
      },
    },
    async ({ user, params: { server, name }, body }) =>
      success({ text: await mcp.prompt(user.id, server, name, body.arguments ?? {}) }),
  )
}

/** Resources that people can attach to a message. */
function registerResourceRoutes(
  app: App,
  { mcp, files, uploadSlots }: Pick<Services, 'mcp' | 'files' | 'uploadSlots'>,
): void {
  app.get(
    '/api/mcp/resources',
    {
      schema: {
        summary: 'List the resources and resource templates of MCP servers',
        tags,
        response: { 200: envelope(McpResourceList) },
      },
    },
    async ({ user }) => {
      await mcp.prepare(user.id)
      const [resources, templates] = await Promise.all([
        mcp.resources(user.id),
        mcp.resourceTemplates(user.id),
      ])
      return success({ resources, templates })
    },
  )

  app.post(
    '/api/mcp/resources/:server',
    {
      schema: {
        summary: 'Read a resource of an MCP server into a file for a message',
        description:
          'Give its URI, or a template with its arguments. Use the file like an uploaded one: list it in `attachments` of a message. Its text is marked as text from outside.',
        tags,
        params: z.object({ server: McpServerName }),
        body: McpResourceBody,
        response: { 200: envelope(FileInfo) },
      },
    },
    async ({ user, params: { server }, body }) =>
      await uploadSlots.run(user.id, async () => {
        const uri = 'uri' in body ? body.uri : expandUriTemplate(body.uri_template, body.arguments)
        const { name, content } = await mcp.readResource(user.id, server, uri)
        const file = await files.upload(user.id, {
          name,
          content: Readable.from([content]),
          isCut: () => false,
        })
        return success(presentFile(file))
      }),
  )
}

/** Signing in to MCP servers with OAuth, and signing out. */
function registerSignInRoutes(
  app: App,
  { mcp, publicUrl }: Pick<Services, 'mcp' | 'publicUrl'>,
): void {
  const metadataUrl = clientMetadataUrl(publicUrl)
  const params = z.object({ name: McpServerName })
  const redirectUri = (origin: string): string => pageUrl(publicUrl, origin, REDIRECT_PATH)

  app.post(
    '/api/mcp/:name/connect',
    {
      schema: {
        summary: 'Start signing in to an MCP server; returns the URL to open',
        tags,
        params,
        response: { 200: envelope(McpSignIn) },
      },
    },
    async ({ user, params: { name }, protocol, host }) =>
      success({ url: await mcp.signIn(user.id, name, redirectUri(`${protocol}://${host}`)) }),
  )

  app.post(
    '/api/mcp/callback',
    {
      schema: {
        summary: 'Finish signing in to an MCP server',
        description:
          'Takes the query of the redirect from the authorization server. Only the user who started the sign-in can finish it.',
        tags,
        body: McpCallbackBody,
        response: { 200: envelope(McpServerList) },
      },
    },
    async ({ user, body }) => {
      await mcp.finishSignIn(user.id, body)
      return success({ servers: mcp.list(user.id) })
    },
  )

  app.delete(
    '/api/mcp/:name/connection',
    {
      schema: {
        summary: 'Sign out of an MCP server',
        tags,
        params,
        response: { 200: Deleted },
      },
    },
    async ({ user, params: { name } }) => {
      await mcp.signOut(user.id, name)
      return { code: 0 as const, message: 'Signed out.' }
    },
  )

  if (metadataUrl !== null)
    app.get(
      new URL(metadataUrl).pathname,
      {
        config: { public: true },
        schema: {
          summary: 'Get the OAuth client metadata of this server, for authorization servers',
          tags,
        },
      },
      async (_request, reply) =>
        reply.send({ client_id: metadataUrl, ...clientMetadata(redirectUri('')) }),
    )
}
