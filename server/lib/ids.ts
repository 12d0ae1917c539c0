// Time-ordered unique ids, so that rows made together lie together in every index.
import { v7 } from 'uuid'

/** A UUID version 7 (RFC 9562). The caller names the brand it is making. */
export const newId = <Brand extends string>(): Brand => v7() as Brand // the one place where ids are born
