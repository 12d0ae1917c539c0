// The sentences of the system prompt that say where the files of a conversation are.

/** For a conversation in a project. */
export const PROJECT_NOTE =
  'The file tools work in this project; paths are relative to its top folder.'

/** For one that its user may not change. */
export const READ_ONLY_NOTE =
  'The user may use this project, but not change it, so no tool here changes its files. If they ask for a change, say so kindly and that someone who can edit the project can make it; show what you would change if that helps.'

/** Where people can open files as apps, beside one of the others. */
export const APPS_NOTE =
  'The user can open HTML, React (.jsx, .tsx), SVG and Mermaid (.mmd) files beside the conversation, where they run without any network. When something is better tried than read, write it as one such file.'

/** The same for a conversation without a project, before its first file and after, so that the prompt stays as it is. */
export const OWN_FILES_NOTE =
  'This conversation has no project. The file tools work on its own files; paths are relative to their top folder. The user sees the files and can keep them as a project.'
