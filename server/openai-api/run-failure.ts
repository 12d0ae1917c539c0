// The error code and the HTTP status of a run that failed.
import { AppError } from '../errors.ts'
import { ERROR_CODES, type ErrorCode } from '../protocol/error.ts'
import { isFailureReason } from '../protocol/failures.ts'
import { programStatus } from '../protocol/openai/error.ts'
import type { RunFailure } from '../protocol/runs/run.ts'

const isErrorCode = (code: string): code is ErrorCode => Object.hasOwn(ERROR_CODES, code)

/** The code of the failure; `internal` for one of an earlier version. */
export const failureCode = ({ code }: Pick<RunFailure, 'code'>): ErrorCode =>
  isErrorCode(code) ? code : 'internal'

/**
 * The error of a request for a run that failed.
 * @param status another status than that of the failure.
 */
export function runError(failure: RunFailure, status?: number): AppError {
  const { content, reason = '', params } = failure
  return new AppError(failureCode(failure), content, {
    ...(isFailureReason(reason) ? { reason } : {}),
    ...(params === undefined ? {} : { params }),
    ...(status === undefined ? {} : { status }),
  })
}

/** The status of a request that fails for the same reason. */
export const failureStatus = (failure: Pick<RunFailure, 'code' | 'reason' | 'params'>): number =>
  programStatus({
    ...failure,
    status: ERROR_CODES[failureCode(failure)],
    error: failureCode(failure),
  })

/** Whether the failure is one of a model's provider: the server has repeated the call as often as it helps. */
export const isProviderFailure = ({ code }: Pick<RunFailure, 'code'>): boolean =>
  code.startsWith('model_')
