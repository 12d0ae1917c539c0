// The dependencies of the routes of conversations and runs: messages, answers, files, exports, shared copies, search.
import { createBackground } from '../../../chat/background.ts'
import type { RouteDependencies } from '../../../routes/index.ts'
import {
  createRunRecordReader,
  type RunRecordReader,
} from '../../../runs/inspection/read-record.ts'
import { createShares } from '../../../sharing/shares.ts'
import type { SharedRouteModules } from './modules.ts'

/** Programs that a user runs at once; their further ones would only wait in the queue. */
const PROGRAMS_PER_USER = 4

type ConversationGroups =
  | 'conversations'
  | 'messages'
  | 'answers'
  | 'files'
  | 'python'
  | 'exports'
  | 'transfers'
  | 'sharing'
  | 'search'
  | 'runs'
  | 'background'
  | 'stats'

/** The dependencies of `routes/conversations`, `routes/files` and `routes/runs`. */
export const conversationRoutes = (
  modules: SharedRouteModules,
): Pick<RouteDependencies, ConversationGroups> => {
  const { config, database, store, attachments, chat, files, markdown, now } = modules
  const { hasModel, limits, search, tools, transfers, uploadSlots } = modules
  const { storage } = modules.workspace.workspaces
  return {
    conversations: conversationList(modules),
    messages: { chat, store, database, attachments },
    answers: { store, database, storage, maxCharacters: config.limits.message },
    files: {
      files,
      knowledge: tools.knowledge,
      uploadSlots,
      fileLimit: config.limits.attachments,
    },
    python: {
      conversations: store.conversations,
      run: tools.runPython,
      slots: limits.slots('python_programs', PROGRAMS_PER_USER),
    },
    exports: { store, database, attachments, files, markdown, hasModel, storage },
    transfers: { jobs: transfers, uploadSlots, importLimit: config.limits.import },
    sharing: sharing(modules),
    search: { search },
    runs: { chat, store, readRecord: runRecords(modules) },
    background: { background: createBackground(store, chat), store },
    stats: { tokenUsage: store.tokenUsage, now },
  }
}

/** Reads the records of runs, with the current prices of models. */
const runRecords = ({ store, records, catalog }: SharedRouteModules): RunRecordReader =>
  createRunRecordReader({
    store,
    records,
    priceOf: (model) =>
      catalog.resolve(model).then(
        ({ price }) => price,
        // A removed model has no price.
        () => null,
      ),
  })

const conversationList = ({
  store,
  access,
  assertModel,
  catalog,
  changes,
  chat,
  hasModel,
  workspace: {
    workspaces: { storage },
  },
}: SharedRouteModules): RouteDependencies['conversations'] => ({
  conversations: store.conversations,
  storage,
  trash: store.trash,
  chat,
  announce: changes.publish,
  assertModel,
  assertApprovalMode: access.assertApprovalMode,
  async projectModel(userId, projectId) {
    const model = (await store.projects.find(userId, projectId))?.settings?.model ?? null
    const isUsable = model !== null && access.models(userId)(model) && (await hasModel(model))
    return isUsable ? model : null
  },
  thinksByDefault: async (userId, id) => {
    const { model } = await catalog.resolve(id, access.models(userId))
    return !model.demo && model.thinking !== false
  },
})

const sharing = ({
  config,
  database,
  store,
  blobs,
  box,
  files,
  hasModel,
  limits,
  markdown,
  now,
  passwords,
  settings,
  workspace: {
    workspaces: { storage },
  },
}: SharedRouteModules): RouteDependencies['sharing'] => ({
  store,
  blobs,
  database,
  files,
  markdown,
  hasModel,
  storage,
  shares: createShares({
    database,
    store,
    box,
    passwords,
    storage,
    isEnabled: () => settings.current().effective.sharing === 'on',
    limits,
    now,
  }),
  publicUrl: config.public_url,
  https: config.public_url?.startsWith('https:') === true,
})
