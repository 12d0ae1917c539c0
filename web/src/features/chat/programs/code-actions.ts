// What can be done with the code of an answer: Python runs on the server, if the user may run it.
import { useTools } from '../../../lib/api/catalog.ts'
import type { CodeActions } from '../../../ui/markdown/code-actions.ts'
import { lateView } from '../../../ui/states/late.tsx'

const ProgramRun = lateView(() => import('./program-run.tsx').then((module) => module.ProgramRun))

const WITH_PYTHON: CodeActions = { ProgramRun }
const WITHOUT_PYTHON: CodeActions = { ProgramRun: null }

/** Python can be run where the agent could run it, too. */
export function useCodeActions(): CodeActions {
  const { data } = useTools()
  const hasPython = data?.tools.some(({ function: { name } }) => name === 'execute_python') ?? false
  return hasPython ? WITH_PYTHON : WITHOUT_PYTHON
}
