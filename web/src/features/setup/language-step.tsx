// The language step, which comes first so that all later steps are readable.

import { useState } from 'react'
import { isLanguage, LANGUAGES } from '../../../../locales/languages.ts'
import { chooseLanguage, shownLanguage } from '../../lib/i18n/i18n.ts'

/** Changes the page's language at once. `label` is the accessible name of the choice. */
export function LanguageStep({ label }: { label: string }) {
  const [chosen, setChosen] = useState<string>(shownLanguage)
  return (
    <fieldset aria-label={label} className="grid grid-cols-2 gap-2 sm:grid-cols-3">
      {Object.entries(LANGUAGES).map(([code, { name, tag }]) => (
        <label
          key={code}
          lang={tag}
          className="flex min-h-11 cursor-pointer items-center gap-2.5 rounded-xl border border-line-strong bg-surface px-3.5 text-sm hover:bg-hover has-checked:border-accent has-checked:bg-accent-soft has-checked:text-accent"
        >
          <input
            type="radio"
            name="language"
            className="size-4 accent-accent"
            checked={code === chosen}
            onChange={() => {
              setChosen(code)
              if (isLanguage(code)) void chooseLanguage(code)
            }}
          />
          {name}
        </label>
      ))}
    </fieldset>
  )
}
