// Limits of uploads, without a schema, so that the page does not load the validator for them.

/** Maximum number of files in one upload of documents. */
export const MAX_DOCUMENTS_PER_UPLOAD = 50
