// The two answers that every route gives.

/** `{"code":0,"data":…}` */
export const success = <T>(data: T): { code: 0; data: T } => ({ code: 0, data })

/** What a deletion answers. */
export const deleted = { code: 0 as const, message: 'deleted' }
