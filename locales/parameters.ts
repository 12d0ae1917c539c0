// The `{{parameters}}` of a text.

/** Names of the `{{parameters}}` in a text. */
export type ParamNames<Text extends string> = Text extends `${string}{{${infer Name}}}${infer Rest}`
  ? Name | ParamNames<Rest>
  : never
