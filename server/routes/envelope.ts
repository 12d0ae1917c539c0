// The success envelope that every route returns.

/** `{"code":0,"data":…}` */
export const success = <T>(data: T): { code: 0; data: T } => ({ code: 0, data })

/** The response to a deletion. */
export const deleted = { code: 0 as const, message: 'deleted' }
