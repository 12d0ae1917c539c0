// Projects, their files and their checkpoints on the wire.
import { z } from 'zod'
import { DisabledTools, Instructions, SkillsOff } from '../accounts/preferences.ts'
import { TokenCount } from '../bounds.ts'
import { ApprovalMode, Temperature } from '../conversations/conversation.ts'
import { optional, PageQuery, page, Timestamp, withoutNul } from '../envelope.ts'
import { MessageId, ProjectId, RunId, UserId } from '../ids.ts'
import { Document } from './knowledge.ts'
import { ProjectRole } from './member.ts'
import { AgentsMd } from './skills.ts'

// The compiler accepts the flag `v` in literals only for newer targets.
const ONE_EMOJI = '^\\p{RGI_Emoji}$'
const EMOJI = new RegExp(ONE_EMOJI, 'v')
/** One emoji, or the id of an image. */
const Icon = z.string().min(1).max(64)
/** Whether an icon is one emoji instead of the id of an image. */
export const isEmoji = (icon: string): boolean => EMOJI.test(icon)

/** A message with which a conversation in the project can begin. */
const Starter = z.object({
  title: withoutNul(z.string().trim().min(1).max(60)),
  text: withoutNul(z.string().trim().min(1).max(2_000)),
})
const Starters = z.array(Starter).max(6)

/** What new conversations of a project begin with; absent: as everywhere. */
export const ConversationDefaults = z.object({
  approval: optional(ApprovalMode),
  thinking_enabled: optional(z.boolean()),
  temperature: optional(Temperature),
  max_tokens: optional(TokenCount),
})
export type ConversationDefaults = z.output<typeof ConversationDefaults>

export const ProjectName = withoutNul(z.string().trim().min(1).max(255))
/** A project without its files. Its settings apply to its new conversations. */
export const Project = z
  .object({
    id: ProjectId,
    name: z.string(),
    description: z.string().nullable(),
    /** How to answer in the project's conversations; '' if there are no instructions. */
    instructions: z.string(),
    /** The model of new conversations; null for the server's default. */
    model: z.string().nullable(),
    /**
     * Names of tools that the project's conversations do not use, in addition to those that the user has switched off
     * everywhere.
     */
    disabled_tools: z.array(z.string()),
    /** Whether the project's conversations read the user's memory. */
    uses_memory: z.boolean(),
    /** An emoji or the id of an image; null for none. */
    icon: z.string().nullable(),
    /** Messages with which a conversation can begin. */
    starters: z.array(z.object({ title: z.string(), text: z.string() })),
    /** What new conversations begin with, besides the model. */
    defaults: z.object({
      approval: ApprovalMode.optional(),
      thinking_enabled: z.boolean().optional(),
      temperature: z.number().optional(),
      max_tokens: z.int().optional(),
    }),
    /** Names of skills that the project's conversations do not use. */
    skills_off: z.array(z.string()),
    /** What the user may do in the project. */
    role: ProjectRole,
    /** The account that stores it. */
    owner: z.object({ id: UserId, name: z.string() }),
    /** Whether it holds the files of one conversation and is in no list. */
    scratch: z.boolean(),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .meta({ id: 'Project' })
export type Project = z.infer<typeof Project>

/** An account or a group with all of its members: `user:<id>` or `group:<id>`. */
export const Principal = z.templateLiteral([
  z.enum(['user', 'group']),
  ':',
  z.string().regex(/^[\w-]{1,64}$/),
])
export type Principal = z.infer<typeof Principal>

/** `others`: calls of high risk are decided by somebody else than the person whose run it is. */
export const ApprovalBy = z.enum(['anyone', 'others'])
export type ApprovalBy = z.infer<typeof ApprovalBy>

/** Maximum number of approvers of a project. */
const MAX_APPROVERS = 20
/** An approver in a request: by id, or by name as `user:@<name>` or `group:@<name>`. */
const GivenApprover = withoutNul(
  z.string().regex(/^(user|group):(@.{1,100}|[\w-]{1,64})$/, {
    error: '`user:<id>`, `user:@<name>`, `group:<id>` or `group:@<name>`',
  }),
)
/** A project with who decides in it. */
export const ProjectWithApprovers = Project.extend({
  approvers: z.array(Principal).max(MAX_APPROVERS),
  /** In the order of `approvers`. */
  approver_names: z.array(z.string()).max(MAX_APPROVERS),
  approval_by: ApprovalBy,
}).meta({ id: 'ProjectWithApprovers' })
export type ProjectWithApprovers = z.infer<typeof ProjectWithApprovers>

/** The contents of a project's folder. `total_size` is in bytes. */
export const ProjectStats = z
  .object({
    files: z.int(),
    directories: z.int(),
    total_size: z.int(),
  })
  .meta({ id: 'ProjectStats' })
export type ProjectStats = z.infer<typeof ProjectStats>
/** A project with the size of its folder. */
export const ProjectDetail = ProjectWithApprovers.extend({
  agents_md: AgentsMd,
  stats: ProjectStats,
}).meta({
  id: 'ProjectDetail',
})
/** A page of the user's projects. */
export const ProjectPage = page(Project).extend({ total: z.int() }).meta({ id: 'ProjectPage' })
export const ProjectListQuery = PageQuery

/** The settings that the project's conversations use. */
export type ProjectSettings = Pick<
  Project,
  | 'instructions'
  | 'model'
  | 'disabled_tools'
  | 'uses_memory'
  | 'starters'
  | 'defaults'
  | 'skills_off'
>
/** What older versions do not store, and keep as it is. */
type Newer = 'starters' | 'defaults' | 'skills_off'
/** The settings as stored. */
export type StoredProjectSettings = Omit<ProjectSettings, Newer> &
  Partial<Pick<ProjectSettings, Newer>> & {
    /** Absent: `anyone`. */
    approval_by?: ApprovalBy
  }
export const DEFAULT_PROJECT_SETTINGS: ProjectSettings = {
  instructions: '',
  model: null,
  disabled_tools: [],
  uses_memory: true,
  starters: [],
  defaults: {},
  skills_off: [],
}

const Description = withoutNul(z.string().max(2000))
export const CreateProjectBody = z
  .object({ name: ProjectName, description: optional(Description) })
  .meta({ id: 'CreateProject' })
export const UpdateProjectBody = z
  .object({
    name: optional(ProjectName),
    description: Description.nullish(),
    instructions: optional(Instructions),
    model: z.string().min(1).max(200).nullish(),
    disabled_tools: optional(DisabledTools),
    uses_memory: optional(z.boolean()),
    icon: Icon.nullish(),
    starters: optional(Starters),
    defaults: optional(ConversationDefaults),
    skills_off: optional(SkillsOff),
    approvers: optional(z.array(GivenApprover).max(MAX_APPROVERS)),
    approval_by: optional(ApprovalBy),
  })
  .meta({ id: 'UpdateProject' })
export type UpdateProjectBody = z.infer<typeof UpdateProjectBody>

/** The files of one conversation become an ordinary project. */
export const KeepProjectBody = z.object({ name: ProjectName }).meta({ id: 'KeepProject' })

/** A copy of a project. */
export const CopyProjectBody = z
  .object({
    name: ProjectName,
    /** Default: true, as for `documents`. */
    files: optional(z.boolean()),
    documents: optional(z.boolean()),
  })
  .meta({ id: 'CopyProject' })

/** `project.json` of a project's bundle. */
export const ProjectBundle = z.object({
  format: z.literal('nanoclaw-project'),
  version: z.literal(1),
  name: ProjectName,
  description: Description.nullish(),
  icon: z.string().max(64).nullish(),
  instructions: optional(Instructions),
  model: z.string().min(1).max(200).nullish(),
  disabled_tools: optional(DisabledTools),
  uses_memory: optional(z.boolean()),
  starters: optional(Starters),
  defaults: optional(ConversationDefaults),
  skills_off: optional(SkillsOff),
})
export type ProjectBundle = z.input<typeof ProjectBundle>

export const FileEntry = z.object({
  name: z.string(),
  path: z.string(),
  size: z.int(),
  extension: z.string(),
})
export const DirectoryEntry = z.object({ name: z.string(), path: z.string() })
/** The files and folders directly in one folder of a project. */
export const FileListing = z
  .object({
    current_path: z.string(),
    files: z.array(
      FileEntry.extend({
        /** The document that the file is; absent for files that are not searchable. */
        document: Document.optional(),
      }),
    ),
    directories: z.array(DirectoryEntry),
    total_files: z.int(),
    total_dirs: z.int(),
  })
  .meta({ id: 'FileListing' })

/** Changes whenever the file changes. A write sends it back to prove that the writer has seen the current content. */
const FileVersion = z.string().max(200)
export const FileText = FileEntry.extend({
  content: z.string(),
  encoding: z.string(),
  version: FileVersion,
}).meta({ id: 'FileText' })
export const WriteFileBody = z
  .object({
    content: z.string(),
    /** The version that was read; `""` for a file that must not exist. If absent, any existing file is replaced. */
    version: optional(FileVersion),
    /** The encoding to write in, such as the one that the file was read in; if absent, UTF-8. */
    encoding: optional(z.string().max(40)),
  })
  .meta({ id: 'WriteFile' })
/** A file after a write. */
export const FileWritten = FileEntry.extend({ version: FileVersion }).meta({ id: 'FileWritten' })
/** The form fields of an upload into a project, besides the files. */
export const AddFilesFields = z.object({
  /** The target folder in the project; by default, its top folder. */
  path: optional(z.string().max(4096)),
})
/** What an upload of files or of an archive changed. */
export const FilesAdded = z
  .object({
    /** The number of new files. */
    added: z.int(),
    /** The number of files that replaced an existing one. */
    replaced: z.int(),
    /** Bytes of all uploaded files. */
    total_size: z.int(),
  })
  .meta({ id: 'FilesAdded' })
export type FilesAdded = z.infer<typeof FilesAdded>
/** Where a renamed file or a new folder is now. */
export const ChangedPath = z.object({ path: z.string() }).meta({ id: 'ChangedPath' })
const NewPath = withoutNul(z.string().min(1).max(4096))
export const RenameFileBody = z.object({ new_path: NewPath }).meta({ id: 'RenameFile' })
export const MakeDirectoryBody = z.object({ path: NewPath }).meta({ id: 'MakeDirectory' })

export const SearchFilesBody = z
  .object({
    query: withoutNul(z.string().min(1).max(1000)),
    path: optional(withoutNul(z.string().max(4096))),
    max_results: optional(z.int().min(1).max(1000)),
    case_sensitive: optional(z.boolean()),
  })
  .meta({ id: 'SearchFiles' })
/** What a search in the files of a project found. */
export const FileMatches = z
  .object({
    query: z.string(),
    results: z.array(
      z.object({
        path: z.string(),
        matches: z.array(z.object({ line: z.int(), content: z.string() })),
      }),
    ),
    total_matches: z.int(),
    /** Whether there may be more matches, because the search reached its result or time limit. */
    truncated: z.boolean(),
  })
  .meta({ id: 'FileMatches' })

/** A file of a project that becomes a file of the user, for a message. */
export const AttachFileBody = z.object({ path: NewPath }).meta({ id: 'AttachProjectFile' })

export const FindFilesQuery = z.object({
  q: withoutNul(z.string().trim().min(1).max(100)),
  /** The only project to look through; by default, those that changed last. */
  project_id: optional(ProjectId),
})
/** Files whose paths contain the words. */
export const FoundFiles = z
  .object({
    files: z.array(z.object({ project_id: ProjectId, project_name: z.string(), path: z.string() })),
    /** Whether there may be more. */
    truncated: z.boolean(),
  })
  .meta({ id: 'FoundFiles' })

export const FileChange = z.enum(['added', 'modified', 'deleted'])
/** A file that a checkpoint covers, and what happened to it. */
const ChangedFile = z.object({ path: z.string(), change: FileChange }).meta({ id: 'ChangedFile' })
/** A file that a change touched. */
export type ChangedFile = z.infer<typeof ChangedFile>
/** One change of a project that can be undone, and who made it. */
export const Checkpoint = z
  .object({
    id: z.string(),
    created_at: Timestamp,
    message_id: MessageId.nullable(),
    run_id: RunId.nullable(),
    /** Who made it, by hand or by a run; null if their account is deleted. */
    user: z.object({ id: UserId, name: z.string() }).nullable(),
    tool: z.string(),
    /** The first 20 of the changed files. */
    files: z.array(ChangedFile),
    /** The total number of changed files. */
    file_count: z.int(),
  })
  .meta({ id: 'Checkpoint' })
export type Checkpoint = z.infer<typeof Checkpoint>
export const CheckpointPage = page(Checkpoint)
export const CheckpointFilePage = page(ChangedFile)
export const CheckpointDiffQuery = z.object({
  /** `change`: what the change did; `now`: everything that a restore would undo, as a diff from then to now. */
  against: z.enum(['change', 'now']).optional(),
})
/** The files of a checkpoint with what changed in each. */
export const CheckpointDiff = z
  .object({
    /** At most 1,000 files; the diff is empty for files beyond the comparison limit. */
    files: z.array(ChangedFile.extend({ diff: z.string() })),
    file_count: z.int(),
  })
  .meta({ id: 'CheckpointDiff' })
/** Restores the project to its state before the answer with this id. */
export const RestoreBody = z.object({ before_message_id: MessageId }).meta({ id: 'RestoreProject' })
/** The checkpoint of a restore. */
export const Restored = z
  .object({ restored: z.int(), checkpoint: Checkpoint })
  .meta({ id: 'Restored' })
