// The sentence of the system prompt that says that a conversation has a project.

/** The file tools are offered in every conversation. The demo, which understands no prompt, looks for this sentence. */
export const PROJECT_NOTE =
  'The file tools work in this project; paths are relative to its top folder.'
