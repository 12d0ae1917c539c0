// Reads JSON of unknown shape; the server reads it in the same way.
export {
  fieldsOf,
  listIn,
  numberIn,
  parseJson,
  textIn,
} from '../../../server/protocol/read-json.ts'
