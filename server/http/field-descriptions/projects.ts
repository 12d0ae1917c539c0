// Descriptions for the API reference: projects, their files, checkpoints and documents.
import type { z } from 'zod'
import type {
  Document,
  DocumentPassage,
  PassageList,
  SearchableFileBody,
} from '../../protocol/projects/knowledge.ts'
import type { Member } from '../../protocol/projects/member.ts'
import type { DocumentPreview, FilePreview } from '../../protocol/projects/preview.ts'
import type {
  AttachFileBody,
  ChangedFile,
  ChangedPath,
  Checkpoint,
  CheckpointDiff,
  FileListing,
  FileMatches,
  FilesAdded,
  FileText,
  FileWritten,
  FoundFiles,
  MakeDirectoryBody,
  Project,
  ProjectDetail,
  ProjectPage,
  ProjectStats,
  ProjectWithApprovers,
  RenameFileBody,
  RestoreBody,
  Restored,
  SearchFilesBody,
  WriteFileBody,
} from '../../protocol/projects/project.ts'
import type {
  ImportedProject,
  ImportNote,
  ProjectImportReport,
} from '../../protocol/projects/project-import.ts'
import { type FieldsOf, within } from './describe-fields.ts'
import { CREATED, PAGE, REASON, UPDATED } from './shared.ts'

const project = {
  id: 'Identifies the project.',
  name: 'The name of the project.',
  description: 'What the project is about. Models read it. Null: none.',
  instructions: 'How to answer in conversations of the project. Empty: no instructions.',
  model: 'The id of the model for new conversations. Null: the default model.',
  disabled_tools: 'Names of the tools that conversations of the project do not use.',
  uses_memory: 'Whether conversations of the project know the memory of the user.',
  icon: 'One emoji, or the id of an image. Null: none.',
  starters: within('Messages with which a conversation can begin, at most 6.', {
    title: 'The title on the button, at most 60 characters.',
    text: 'The message, at most 2,000 characters.',
  }),
  defaults: within('What new conversations of the project begin with, besides the model.', {
    approval: 'Which tool calls wait for a person. Absent: the default of the server.',
    thinking_enabled: 'Whether models think before they answer. Absent: as the model does.',
    temperature: 'The temperature, from 0 to 2. Absent: the default of the provider.',
    max_tokens: 'The maximum number of tokens of an answer. Absent: that of the model.',
  }),
  skills_off: 'Names of the skills that conversations of the project do not use.',
  role: 'What you may do: `use` is to read and to have conversations, `edit` also to change it, `own` everything.',
  owner: within('The account that the project belongs to.', {
    id: 'Identifies the account.',
    name: 'The name of the account.',
  }),
  scratch:
    'Whether the project holds the files of one conversation: it is in no list, has at most 100 MB and is deleted with the conversation.',
  created_at: CREATED,
  updated_at: UPDATED,
} satisfies FieldsOf<Project>

const withApprovers = {
  ...project,
  approvers:
    'Who sees and decides the approval requests in the project besides the person of the run: `user:<id>` or `group:<id>` each; a change may also say `user:@<name>` or `group:@<name>`.',
  approver_names: 'Their names, in the order of `approvers`.',
  approval_by:
    '`anyone`: the person of a run decides its calls, too; `others`: calls of high risk always wait for somebody else.',
} satisfies FieldsOf<ProjectWithApprovers>

const detail = {
  ...withApprovers,
  agents_md: within('The instructions for agents among its files.', {
    path: 'The file: `AGENTS.md`, else `CLAUDE.md`. Null: none.',
    sha256: 'SHA-256 of the file. Null: none.',
    state: 'Whether you have accepted this version. Models receive it only then.',
  }),
  stats: 'What the folder of the project contains.',
} satisfies FieldsOf<z.infer<typeof ProjectDetail>>

const fileEntry = {
  name: 'The name of the file.',
  path: 'The path in the project.',
  size: 'The size in bytes.',
  extension: 'The extension of the name, with its dot. Empty: none.',
}
const VERSION =
  'Changes whenever the file changes. Send it with a write to prove that you have seen the current content.'

const changedFile = {
  path: 'The path in the project.',
  change: 'What happened to the file.',
} satisfies FieldsOf<ChangedFile>

/** By the id of a schema in the reference. */
export const PROJECT_DESCRIPTIONS = {
  Project: project,
  CreateProject: project,
  UpdateProject: withApprovers,
  ProjectMember: {
    principal: '`user:<id>`, `group:<id>` or `everyone`.',
    name: 'The name of the account or group. Empty: everyone.',
    role: '`use`: reads and has conversations. `edit`: also changes. `own`: also decides who is a member.',
  } satisfies FieldsOf<Member>,
  ProjectMemberPage: PAGE,
  SetProjectMember: { role: 'What the member may do: `use`, `edit` or `own`.' },
  KeepProject: { name: 'The name of the project.' },
  CopyProject: {
    name: 'The name of the copy.',
    files: 'Whether to copy the files. Default: true.',
    documents: 'Whether to copy the documents. Default: true.',
  },
  ProjectWithApprovers: withApprovers,
  ProjectDetail: detail,
  ImportedProject: {
    ...detail,
    report: 'What was taken, changed and left out, for all projects of the file.',
  } satisfies FieldsOf<z.infer<typeof ImportedProject>>,
  ProjectImportReport: {
    format: 'The program that the file is from.',
    projects: within('The new projects, in the order of the file.', {
      id: 'Identifies the project.',
      name: 'The name of the project.',
      notes: 'What became of its parts.',
    }),
    skipped: 'The number of entries that are no assistants, such as models without instructions.',
  } satisfies FieldsOf<ProjectImportReport>,
  ProjectImportNote: {
    part: 'What the note is about.',
    outcome: 'What became of it.',
    reason: 'Why it was changed or left out, or what to look at.',
    detail: 'A name or number from the file, such as the id of a model.',
  } satisfies FieldsOf<ImportNote>,
  ProjectStats: {
    files: 'The number of files.',
    directories: 'The number of folders.',
    total_size: 'The size of all files in bytes.',
  } satisfies FieldsOf<ProjectStats>,
  ProjectPage: {
    ...PAGE,
    total: 'The number of projects on all pages.',
  } satisfies FieldsOf<z.infer<typeof ProjectPage>>,
  FileListing: {
    current_path: 'The path of the folder. Empty: the top folder of the project.',
    files: within('The files in the folder, sorted by name.', {
      ...fileEntry,
      document: 'The document that the file is. Absent: the file is not searchable.',
    }),
    directories: within('The folders in the folder, sorted by name.', {
      name: 'The name of the folder.',
      path: fileEntry.path,
    }),
    total_files: 'The number of files in the folder.',
    total_dirs: 'The number of folders in the folder.',
  } satisfies FieldsOf<z.infer<typeof FileListing>>,
  FileText: {
    ...fileEntry,
    content: 'The text of the file.',
    encoding:
      'The encoding that the text was decoded with: the requested one, else the one that the file is most likely in.',
    version: VERSION,
  } satisfies FieldsOf<z.infer<typeof FileText>>,
  WriteFile: {
    content: 'The new text of the file.',
    version:
      'The `version` that you have read; the write is refused if the file has changed. Empty: the file must not exist. Default: any file is replaced.',
    encoding:
      'The encoding to write in, such as the one that the file was read in; refused if it cannot represent the text. Default: UTF-8.',
  } satisfies FieldsOf<z.infer<typeof WriteFileBody>>,
  FileWritten: { ...fileEntry, version: VERSION } satisfies FieldsOf<z.infer<typeof FileWritten>>,
  FilesAdded: {
    added: 'The number of new files.',
    replaced: 'The number of files that replaced an existing one.',
    total_size: 'The size of all uploaded files in bytes.',
  } satisfies FieldsOf<FilesAdded>,
  ChangedPath: {
    path: 'The path of the renamed file or of the new folder in the project.',
  } satisfies FieldsOf<z.infer<typeof ChangedPath>>,
  RenameFile: {
    new_path: 'The new path in the project. Its folders are created if needed.',
  } satisfies FieldsOf<z.infer<typeof RenameFileBody>>,
  AttachProjectFile: {
    path: 'The path of the file in the project.',
  } satisfies FieldsOf<z.infer<typeof AttachFileBody>>,
  MakeDirectory: {
    path: 'The path of the new folder in the project.',
  } satisfies FieldsOf<z.infer<typeof MakeDirectoryBody>>,
  SearchFiles: {
    query: 'The text to find, not a pattern.',
    path: 'The folder to search in. Default: the top folder.',
    max_results: 'The maximum number of matches. Default: 100.',
    case_sensitive: 'Whether upper and lower case differ. Default: false.',
  } satisfies FieldsOf<z.infer<typeof SearchFilesBody>>,
  FileMatches: {
    query: 'The text that was searched for.',
    results: within('The files with matches.', {
      path: fileEntry.path,
      matches: within('The matching lines.', {
        line: 'The number of the line, from 1.',
        content: 'The text of the line, shortened if it is long.',
      }),
    }),
    total_matches: 'The number of matches in `results`.',
    truncated:
      'Whether there may be more matches, because the search reached its limit of results or time.',
  } satisfies FieldsOf<z.infer<typeof FileMatches>>,
  FoundFiles: {
    files: within('The files, those of the project that changed last first.', {
      project_id: 'The project.',
      project_name: 'Its name.',
      path: fileEntry.path,
    }),
    truncated:
      'Whether there may be more, because the search reached its limit of results or time.',
  } satisfies FieldsOf<z.infer<typeof FoundFiles>>,
  Checkpoint: {
    id: 'Identifies the checkpoint.',
    created_at: 'When the change was made.',
    message_id: 'The answer whose tool made the change. Null: a person made it.',
    run_id: 'The run whose tool made the change. Null: a person made it.',
    user: within('Who made the change, by hand or by a run. Null: their account is deleted.', {
      id: 'The account.',
      name: 'Its name.',
    }),
    tool: 'The tool or action that made the change.',
    files: 'The first 20 changed files.',
    file_count: 'The number of all changed files.',
  } satisfies FieldsOf<Checkpoint>,
  ChangedFile: changedFile,
  CheckpointDiff: {
    files: within('The changed files, up to 1,000.', {
      ...changedFile,
      diff: 'The change as a unified diff. Empty for files beyond the limit of the comparison.',
    }),
    file_count: 'The number of all changed files.',
  } satisfies FieldsOf<z.infer<typeof CheckpointDiff>>,
  RestoreProject: {
    before_message_id: 'The message whose changes, and all later ones, are undone.',
  } satisfies FieldsOf<z.infer<typeof RestoreBody>>,
  Restored: {
    restored: 'The number of restored files.',
    checkpoint: 'The checkpoint with which the restore itself can be undone.',
  } satisfies FieldsOf<z.infer<typeof Restored>>,
  Document: {
    id: 'Identifies the document.',
    name: 'The name of the file.',
    size: 'The size of the file in bytes.',
    status: '`pending`: it is being read; `ready`: search can find it; `failed`: see `error`.',
    error:
      'Why the document, or a part of a document that is ready, could not be read, for a person. Null: no error.',
    ...REASON,
    passages: 'The number of indexed passages. It grows while the document is pending.',
    encoding:
      'The encoding that was found or chosen for a text, by its name in the Encoding Standard. Another one can be chosen. Null: the file says itself how it is read, or its bytes are no longer stored.',
    path: 'The path of the file of the project that the document is and follows. Null: an uploaded document.',
    created_at: CREATED,
  } satisfies FieldsOf<Document>,
  SearchableFile: {
    path: 'The path of the file in the project.',
  } satisfies FieldsOf<z.infer<typeof SearchableFileBody>>,
  DocumentPassage: {
    position: 'The position within the document, from 0.',
    heading: 'The heading above the passage. Null: none.',
    page: 'The page of the passage, from 1. Null for formats without pages.',
    text: 'The text of the passage.',
  } satisfies FieldsOf<z.infer<typeof DocumentPassage>>,
  DocumentPreview: {
    kind: '`text`: a text document; `sheets`: a workbook; `slides`: a presentation; `pages`: a PDF.',
    blocks: within('Headings, paragraphs, items of lists and tables, in order.', {
      kind: 'What it is.',
      level: 'The level of a heading, or the depth of the list of an item, from 1.',
      text: 'Its text, without formatting.',
      rows: 'The rows of a table, as texts of their cells.',
    }),
    sheets: within('The sheets of a workbook, in order.', {
      name: 'The name of the sheet.',
      rows: 'The first rows that are not empty, as texts of their cells.',
      total_rows: 'The number of rows that are not empty.',
    }),
    slides: within('The slides, in order.', {
      number: 'The number of the slide, from 1.',
      text: 'The text of the slide, a paragraph per line.',
      notes: 'The speaker’s notes; empty without notes.',
    }),
    pages: within('The pages that have text, in order.', {
      number: 'The number of the page, from 1.',
      text: 'The text of the page.',
    }),
    truncated: 'Whether the document contains more.',
  } satisfies FieldsOf<DocumentPreview>,
  FilePreview: {
    preview: 'The content. Null: it could not be read.',
    error: 'For a person: why it could not be read.',
    reason: 'The machine-readable reason of `error`.',
    params: 'The values in `error`.',
  } satisfies FieldsOf<FilePreview>,
  PassageList: {
    document: 'The document.',
    items: 'The passages, in the order of the document.',
  } satisfies FieldsOf<z.infer<typeof PassageList>>,
}
