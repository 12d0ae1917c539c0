// Types of the texts for the doctor's findings, the same in every language.
import type { FindingCode } from '../../../../server/protocol/admin/finding-code.ts'

/** `subject` where it is not a name; `advice` where there is any. */
export type FindingTexts = Readonly<
  Record<FindingCode, { subject?: string; detail: string; advice?: string }>
>

/** The names of folders in the page's language, by the server's names. */
export type FindingFolders = Readonly<Record<string, string>>

/** A language's texts of the findings. */
export type Findings = { findings: FindingTexts; folders: FindingFolders }
