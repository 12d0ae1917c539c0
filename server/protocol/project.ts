// Projects, their files and their checkpoints on the wire.
import { z } from 'zod'
import { optional, PageQuery, page, Timestamp, withoutNul } from './envelope.ts'
import { MessageId, ProjectId, RunId } from './ids.ts'

export const ProjectName = withoutNul(z.string().trim().min(1).max(255))
export const Project = z
  .object({
    id: ProjectId,
    name: z.string(),
    description: z.string().nullable(),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .meta({ id: 'Project' })
export type Project = z.infer<typeof Project>

export const ProjectStats = z.object({
  files: z.int(),
  directories: z.int(),
  total_size: z.int(),
})
export type ProjectStats = z.infer<typeof ProjectStats>
export const ProjectDetail = Project.extend({ stats: ProjectStats })
export const ProjectPage = page(Project).extend({ total: z.int() })
export const ProjectListQuery = PageQuery

const Description = withoutNul(z.string().max(2000))
export const CreateProjectBody = z
  .object({ name: ProjectName, description: optional(Description) })
  .meta({ id: 'CreateProject' })
export const UpdateProjectBody = z
  .object({ name: optional(ProjectName), description: Description.nullish() })
  .meta({ id: 'UpdateProject' })

export const FileEntry = z.object({
  name: z.string(),
  path: z.string(),
  size: z.int(),
  extension: z.string(),
})
export const DirectoryEntry = z.object({ name: z.string(), path: z.string() })
export const FileListing = z.object({
  current_path: z.string(),
  files: z.array(FileEntry),
  directories: z.array(DirectoryEntry),
  total_files: z.int(),
  total_dirs: z.int(),
})

/** Changes with every change of the file; given back in a write, it proves that the writer knows the file as it is. */
const FileVersion = z.string().max(200)
export const FileText = FileEntry.extend({
  content: z.string(),
  encoding: z.string(),
  version: FileVersion,
}).meta({ id: 'FileText' })
export const WriteFileBody = z
  .object({
    content: z.string(),
    /** The version that was read; `""` for a file that must not exist yet. Without it whatever is there is replaced. */
    version: optional(FileVersion),
  })
  .meta({ id: 'WriteFile' })
export const FileWritten = FileEntry.extend({ version: FileVersion })
/** The fields beside the files of an upload into a project. */
export const AddFilesFields = z.object({
  /** The folder of the project that the files go to; without it the project's own. */
  path: optional(z.string().max(4096)),
})
export const FilesAdded = z
  .object({
    /** Files that were not there before, and files that took the place of one. */
    added: z.int(),
    replaced: z.int(),
    /** Bytes of all of them. */
    total_size: z.int(),
  })
  .meta({ id: 'FilesAdded' })
export type FilesAdded = z.infer<typeof FilesAdded>
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
export const FileMatches = z.object({
  query: z.string(),
  results: z.array(
    z.object({
      path: z.string(),
      matches: z.array(z.object({ line: z.int(), content: z.string() })),
    }),
  ),
  total_matches: z.int(),
  /** There may be more: the number of results or the time was up. */
  truncated: z.boolean(),
})

export const FileChange = z.enum(['added', 'modified', 'deleted'])
const ChangedFile = z.object({ path: z.string(), change: FileChange })
export type ChangedFile = z.infer<typeof ChangedFile>
export const Checkpoint = z
  .object({
    id: z.string(),
    created_at: Timestamp,
    message_id: MessageId.nullable(),
    run_id: RunId.nullable(),
    tool: z.string(),
    /** The first 20 of the changed files. */
    files: z.array(ChangedFile),
    /** How many files changed in all. */
    file_count: z.int(),
  })
  .meta({ id: 'Checkpoint' })
export type Checkpoint = z.infer<typeof Checkpoint>
export const CheckpointPage = page(Checkpoint)
export const CheckpointFilePage = page(ChangedFile)
export const CheckpointDiffQuery = z.object({
  /** `change`: what the change did; `now`: all that restoring would undo, as a difference from then to now. */
  against: z.enum(['change', 'now']).optional(),
})
export const CheckpointDiff = z.object({
  /** At most 1,000; the diff is empty where there are too many to compare. */
  files: z.array(ChangedFile.extend({ diff: z.string() })),
  file_count: z.int(),
})
export const RestoreBody = z.object({ before_message_id: MessageId })
export const Restored = z.object({ restored: z.int(), checkpoint: Checkpoint })
