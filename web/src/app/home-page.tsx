// The start page: a new chat.
import type { ReactNode } from 'react'
import { NewChat } from '../features/chat/new-chat.tsx'
import { DemoNotice } from '../features/setup/demo-notice.tsx'

export function HomePage({ menu, admin }: { menu: ReactNode; admin: boolean }) {
  return (
    <>
      {menu !== null && <div className="flex h-13 shrink-0 items-center px-3">{menu}</div>}
      <NewChat projectId={null} projectPicker={null} notice={<DemoNotice canAdd={admin} />} />
    </>
  )
}
