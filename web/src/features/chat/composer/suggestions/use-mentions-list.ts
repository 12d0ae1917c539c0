// The entries of the `@` list: files of the project, which are named in the text and attached; its documents, which are named;
// conversations and MCP resources, which are attached.
import { useQuery } from '@tanstack/react-query'
import { BookText, File as FileIcon, Folder, MessageSquare, Plug } from 'lucide-react'
import type { z } from 'zod'
import type { ConversationPage } from '../../../../../../server/protocol/conversations/conversation.ts'
import type { FileInfo } from '../../../../../../server/protocol/conversations/file.ts'
import type { ProjectId } from '../../../../../../server/protocol/ids.ts'
import type { FileListing, FoundFiles } from '../../../../../../server/protocol/projects/project.ts'
import { useUploadedDocuments } from '../../../../lib/api/documents.ts'
import { readResource, useMcpResources } from '../../../../lib/api/mcp.ts'
import { conversationTitle } from '../../../../lib/conversation-title.ts'
import { request, send } from '../../../../lib/http/api-client.ts'
import { useTranslation } from '../../../../lib/i18n/use-translation.tsx'
import { reportError } from '../../../../ui/states/error-text.ts'
import { askForFields } from '../prompt-to-fill.ts'
import { type Editing, SUGGESTIONS_OF_A_KIND, type Suggestion } from './suggestion.ts'

/** Splits a path prefix: `src/ma` means the entries of `src` that begin with `ma`. */
const splitPath = (query: string) => {
  const end = query.lastIndexOf('/') + 1
  return { folder: query.slice(0, Math.max(0, end - 1)), start: query.slice(end).toLowerCase() }
}

/** The entries of the folder that the query names, then files anywhere in the project whose paths contain it. */
function useFiles(
  projectId: ProjectId | null,
  query: string,
  { replace, attachStored }: Editing,
): Suggestion[] {
  const { folder, start } = splitPath(query)
  const { data } = useQuery({
    queryKey: ['project-files', projectId, 'folder', folder],
    queryFn: ({ signal }) =>
      request<z.output<typeof FileListing>>(`/api/projects/${projectId}/files`, {
        query: { path: folder },
        signal,
      }),
    enabled: projectId !== null,
    meta: { quiet: true },
  })
  const { data: found } = useQuery({
    queryKey: ['project-files', projectId, 'named', query],
    queryFn: ({ signal }) =>
      request<z.output<typeof FoundFiles>>('/api/project-files', {
        query: { q: query.slice(0, 100), project_id: projectId },
        signal,
      }),
    enabled: projectId !== null && query !== '',
    placeholderData: (previous) => previous,
    meta: { quiet: true },
  })
  // The answer may still be that to an earlier query; Enter must not choose what no longer matches.
  const matching = (query === '' ? [] : (found?.files ?? []))
    .map(({ path }) => path)
    .filter((path) => path.toLowerCase().includes(query.toLowerCase()))
  const begins = ({ name }: { name: string }): boolean => name.toLowerCase().startsWith(start)
  const folders = (data?.directories ?? []).filter(begins).map(({ path }) => ({
    key: `folder ${path}`,
    icon: Folder,
    label: `${path}/`,
    choose: () => replace(`@${path}/`),
  }))
  const near = (data?.files ?? []).filter(begins).map(({ path }) => path)
  const files = [...new Set([...near, ...matching])].map((path) => ({
    key: `file ${path}`,
    icon: FileIcon,
    label: path,
    choose() {
      replace(`\`${path}\` `)
      attachStored(path.split('/').at(-1) ?? path, `${projectId} ${path}`, (signal) =>
        request<FileInfo>(`/api/projects/${projectId}/attachments`, {
          method: 'POST',
          body: { path },
          signal,
        }),
      )
    },
  }))
  return [...folders, ...files].slice(0, SUGGESTIONS_OF_A_KIND)
}

function useDocumentNames(
  projectId: ProjectId | null,
  query: string,
  { replace }: Editing,
): Suggestion[] {
  const { t } = useTranslation()
  const { data } = useUploadedDocuments(projectId)
  return (data?.pages ?? [])
    .flatMap(({ items }) => items)
    .filter(({ name }) => name.toLowerCase().includes(query.toLowerCase()))
    .slice(0, SUGGESTIONS_OF_A_KIND)
    .map(({ id, name }) => ({
      key: `document ${id}`,
      icon: BookText,
      label: name,
      hint: t('suggestions.document'),
      choose: () => replace(`“${name}” `),
    }))
}

function useTitles(query: string, { replace, attach }: Editing): Suggestion[] {
  const { t } = useTranslation()
  const { data } = useQuery({
    queryKey: ['mentioned-conversations', query],
    queryFn: ({ signal }) =>
      request<z.output<typeof ConversationPage>>('/api/conversations', {
        query: { q: query, limit: SUGGESTIONS_OF_A_KIND },
        signal,
      }),
    placeholderData: (previous) => previous,
    meta: { quiet: true },
  })
  return (data?.items ?? []).map(({ id, title }) => {
    const name = conversationTitle(title, t)
    const choose = async (): Promise<void> => {
      replace('')
      try {
        const query = { format: 'md' }
        const response = await send(`/api/conversations/${id}/export`, { query })
        const text = await response.blob()
        // A valid file name on every operating system.
        const file = `${name.replaceAll(/[\\/:*?"<>|]/g, ' ').slice(0, 100)}.md`
        attach([new File([text], file, { type: 'text/markdown' })])
      } catch (error) {
        reportError(error)
      }
    }
    return {
      key: `conversation ${id}`,
      icon: MessageSquare,
      label: name,
      hint: t('suggestions.conversation'),
      choose: () => void choose(),
    }
  })
}

function useResources(query: string, { replace, attachStored }: Editing): Suggestion[] {
  const { t } = useTranslation()
  const { data: { resources, templates } = { resources: [], templates: [] } } = useMcpResources()
  const search = query.toLowerCase()
  return [...resources, ...templates]
    .map((resource) => {
      const { server, name, title = name, description } = resource
      const address = 'uri' in resource ? resource.uri : resource.uri_template
      const attach = (body: Parameters<typeof readResource>[1]): void =>
        attachStored(title, `${server} ${JSON.stringify(body)}`, (signal) =>
          readResource(server, body, signal),
        )
      const choose = (): void => {
        replace('')
        if ('uri' in resource) attach({ uri: address })
        else
          askForFields({
            key: `${server} ${address}`,
            title,
            description: [t('prompts.from', { server }), description ?? address].join(' '),
            fields: resource.arguments,
            submit: 'attach',
            fill(values) {
              attach({ uri_template: address, arguments: values })
              return null
            },
          })
      }
      const found = `${name} ${title} ${address} ${server}`.toLowerCase().includes(search)
      return {
        found,
        key: `resource ${server} ${address}`,
        icon: Plug,
        label: title,
        hint: server,
        choose,
      }
    })
    .filter(({ found }) => found)
    .slice(0, SUGGESTIONS_OF_A_KIND)
}

/** Lists no files and documents if `projectId` is null. The list grows as responses arrive. */
export function useMentionsList(
  query: string,
  projectId: ProjectId | null,
  editing: Editing,
): Suggestion[] {
  return [
    ...useFiles(projectId, query, editing),
    ...useDocumentNames(projectId, query, editing),
    ...useTitles(query, editing),
    ...useResources(query, editing),
  ]
}
