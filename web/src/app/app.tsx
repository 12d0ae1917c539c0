// The root component: providers, and the gate that shows the sign-in page or the shell.

import { QueryClientProvider, type UseQueryResult, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Router, useLocation } from 'wouter'
import { useAuthMode } from '../lib/api/auth.ts'
import { BASE_PATH } from '../lib/base-path.ts'
import { FirstScreenReady } from '../lib/browser/first-screen.tsx'
import { renewSession } from '../lib/http/api-client.ts'
import { createQueryClient } from '../lib/http/query-client.ts'
import { useSession } from '../lib/http/session.ts'
import { paths } from '../lib/paths.ts'
import { useTheme } from '../lib/preferences/theme.ts'
import { errorText, reportError } from '../ui/states/error-text.ts'
import { Failed, Loading } from '../ui/states/feedback.tsx'
import { lastPart, lazyView } from '../ui/states/late.tsx'
import { PartBoundary } from '../ui/states/part-boundary.tsx'
import { LateToaster } from './late-toaster.tsx'
import { Shell } from './shell.tsx'
import { ShellSkeleton } from './shell-skeleton.tsx'

const SignInPage = lazyView(() =>
  import('../features/auth/sign-in-page.tsx').then((module) => module.SignInPage),
)
const JoinPage = lazyView(() =>
  import('../features/auth/join-page.tsx').then((module) => module.JoinPage),
)
const LinkPage = lazyView(() =>
  import('../features/chat/approvals/link-page.tsx').then((module) => module.LinkPage),
)
const TipBubble = lastPart(() =>
  import('../ui/overlays/tip-bubble.tsx').then((module) => module.TipBubble),
)

/** The root component, which `main.tsx` mounts. */
export function App() {
  const [client] = useState(() => createQueryClient(reportError))
  const { dark } = useTheme()
  return (
    <QueryClientProvider client={client}>
      <Router base={BASE_PATH}>
        <Gate />
        <LateToaster dark={dark} />
        <PartBoundary fallback={null} instead={null}>
          <TipBubble />
        </PartBoundary>
      </Router>
    </QueryClientProvider>
  )
}

/** Tries to renew the session with its cookie, and shows the skeleton meanwhile. */
function SessionCheck() {
  const check = useQuery({
    queryKey: ['renew-session'],
    queryFn: () => renewSession().then(() => true),
    staleTime: 0,
    gcTime: 0,
    retry: 5,
    meta: { quiet: true },
  })
  return failsRepeatedly(check) ? <Unreachable query={check} /> : <ShellSkeleton />
}

/** Attempts that may fail before the page says so. Further attempts follow meanwhile. */
const MAX_SILENT_FAILURES = 2

const failsRepeatedly = ({ isError, failureCount }: UseQueryResult): boolean =>
  isError || failureCount > MAX_SILENT_FAILURES

/** The whole page while the request that everything depends on fails. */
function Unreachable({ query }: { query: UseQueryResult }) {
  return (
    <main className="grid h-full place-items-center">
      <Failed message={errorText(query.failureReason)} onRetry={() => void query.refetch()} />
      <FirstScreenReady />
    </main>
  )
}

/** Shows the shell; in multi-user mode only the sign-in page until a user is signed in. */
function Gate() {
  const mode = useAuthMode()
  const { state } = useSession()
  const [path] = useLocation()
  /** Whether somebody who has a link wants to approve with it. */
  const [isSigningIn, setSigningIn] = useState(false)
  if (mode.data === undefined)
    return failsRepeatedly(mode) ? <Unreachable query={mode} /> : <ShellSkeleton />
  const multi = mode.data.mode === 'multi'
  if (multi && state === 'unknown') return <SessionCheck />
  if (path.startsWith(paths.link) && !(multi && state === 'out' && isSigningIn))
    return (
      <PartBoundary fallback={<Loading />}>
        <LinkPage
          token={path.slice(paths.link.length)}
          onSignIn={multi && state === 'out' ? () => setSigningIn(true) : null}
        />
        <FirstScreenReady />
      </PartBoundary>
    )
  if (multi && path === paths.join)
    return (
      <PartBoundary fallback={<ShellSkeleton />}>
        <JoinPage />
        <FirstScreenReady />
      </PartBoundary>
    )
  if (multi && state === 'out')
    return (
      <PartBoundary fallback={<ShellSkeleton />}>
        <SignInPage
          canRegister={
            mode.data.registration === 'open' && !mode.data.setup_link && !mode.data.password_off
          }
          first={mode.data.first_user === true}
          needsSetupLink={mode.data.setup_link === true}
          ssoName={mode.data.oidc}
          hasPasskeys={mode.data.passkeys === true}
          hasMail={mode.data.mail === true}
          passwordOff={mode.data.password_off === true}
        />
        <FirstScreenReady />
      </PartBoundary>
    )
  return <Shell multi={multi} />
}
