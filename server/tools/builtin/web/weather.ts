// The `get_weather` tool: current weather and forecast from Open-Meteo or OpenWeatherMap.
import { z } from 'zod'
import { textLanguage } from '../../../lib/text-language.ts'
import type { GuardedFetch } from '../../../net/guarded-fetch.ts'
import type { WeatherCondition } from '../../../protocol/weather-conditions.ts'
import {
  defineTool,
  fail,
  succeed,
  type ToolDefinition,
  type ToolResult,
} from '../../definition.ts'
import { serviceUrl } from './service-url.ts'

/** The weather service. Configured addresses replace its public ones. */
export interface WeatherSettings {
  provider: 'open-meteo' | 'openweathermap'
  apiKey?: string | undefined
  geocodingUrl?: string | undefined
  forecastUrl?: string | undefined
  openweathermapUrl?: string | undefined
}

type Units = 'metric' | 'imperial'
/** `isNotFound`: the service does not know the city. `error` is a full sentence. */
type Outcome<T> = { ok: true; value: T } | { ok: false; isNotFound: boolean; error: string }

const TIMEOUT_MS = 10_000
const FORECAST_DAYS = 3

interface WeatherService {
  settings: WeatherSettings
  fetch: GuardedFetch
}

/** The tool `get_weather`. */
export function createWeatherTool(settings: WeatherSettings, fetch: GuardedFetch): ToolDefinition {
  const service = { settings, fetch }
  return defineTool({
    name: 'get_weather',
    description:
      settings.provider === 'openweathermap'
        ? 'Returns the current weather in a city. Add the country if the name is ambiguous.'
        : 'Returns the current weather in a city and the forecast for three days. Add the country if the name is ambiguous.',
    category: 'basic',
    riskLevel: 'low',
    cacheable: true,
    timeoutMs: 40_000,
    input: z.object({
      city: z.string().trim().min(1).max(100).describe('City name, in any language.'),
      units: z
        .enum(['metric', 'imperial', 'celsius', 'fahrenheit'])
        .default('metric')
        .describe('metric or celsius: °C; imperial or fahrenheit: °F.'),
    }),
    handler: async ({ city, units: given }, { signal }) => {
      const units = given === 'imperial' || given === 'fahrenheit' ? 'imperial' : 'metric'
      return settings.provider === 'openweathermap'
        ? openWeatherMap(service, city, units, signal)
        : openMeteo(service, city, units, signal)
    },
  })
}

/** Calls a service and checks its response. Errors never contain the URL, which may contain a key. */
async function request<T>(
  fetch: GuardedFetch,
  url: URL,
  isConfigured: boolean,
  schema: z.ZodType<T>,
  signal: AbortSignal,
): Promise<Outcome<T>> {
  const failed = (error: string, isNotFound = false) => ({ ok: false, isNotFound, error }) as const
  const outcome = await fetch(url.href, { signal, trusted: isConfigured, timeoutMs: TIMEOUT_MS })
  if (!outcome.ok) return failed(outcome.error)
  const { status } = outcome
  if (status === 401 || status === 403)
    return failed('The weather service refused the configured API key.')
  if (status >= 400)
    return failed(`The weather service responded with HTTP status ${status}.`, status === 404)
  try {
    const read = schema.safeParse(JSON.parse(Buffer.from(outcome.body).toString()))
    if (read.success) return { ok: true, value: read.data }
  } catch {
    // Not JSON; reported below.
  }
  return failed('The response of the weather service could not be read.')
}

/** The language in which the service names the city: that of its name as written; English if no letter tells one. */
const languageOfName = (city: string): string =>
  /^[ -~]*$/.test(city) ? 'en' : (textLanguage(city).split('-')[0] ?? 'en')

async function openMeteo(
  { settings, fetch }: WeatherService,
  city: string,
  units: Units,
  signal: AbortSignal,
): Promise<ToolResult> {
  const search = serviceUrl(settings.geocodingUrl, 'https://geocoding-api.open-meteo.com/v1/search')
  search.searchParams.set('name', city)
  search.searchParams.set('count', '1')
  search.searchParams.set('language', languageOfName(city))
  search.searchParams.set('format', 'json')
  const cities = await request(
    fetch,
    search,
    settings.geocodingUrl !== undefined,
    Geocoding,
    signal,
  )
  if (!cities.ok) return unavailable(cities.error)
  const found = cities.value.results?.[0]
  if (found === undefined) return unknownCity(city)

  const forecast = serviceUrl(settings.forecastUrl, 'https://api.open-meteo.com/v1/forecast')
  const query: Record<string, string> = {
    latitude: String(found.latitude),
    longitude: String(found.longitude),
    current:
      'temperature_2m,relative_humidity_2m,apparent_temperature,precipitation,weather_code,wind_speed_10m,wind_direction_10m',
    daily: 'weather_code,temperature_2m_max,temperature_2m_min,precipitation_probability_max',
    timezone: 'auto',
    forecast_days: String(FORECAST_DAYS),
    ...(units === 'imperial'
      ? { temperature_unit: 'fahrenheit', wind_speed_unit: 'mph', precipitation_unit: 'inch' }
      : {}),
  }
  for (const [name, value] of Object.entries(query)) forecast.searchParams.set(name, value)
  const weather = await request(
    fetch,
    forecast,
    settings.forecastUrl !== undefined,
    Forecast,
    signal,
  )
  if (!weather.ok) return unavailable(weather.error)
  const { current, daily, timezone } = weather.value
  const days = (daily?.time ?? []).map((date, day) => ({
    date,
    condition: condition(daily?.weather_code?.[day]),
    max: daily?.temperature_2m_max?.[day] ?? null,
    min: daily?.temperature_2m_min?.[day] ?? null,
    rain_probability: daily?.precipitation_probability_max?.[day] ?? null,
  }))
  return present({
    city: found.name,
    region: found.admin1 ?? null,
    country: found.country ?? null,
    country_code: found.country_code ?? null,
    observed_at: current.time,
    timezone: timezone ?? found.timezone ?? null,
    condition: condition(current.weather_code),
    temperature: current.temperature_2m,
    feels_like: current.apparent_temperature ?? null,
    humidity: current.relative_humidity_2m ?? null,
    precipitation: current.precipitation ?? null,
    wind_speed: current.wind_speed_10m ?? null,
    wind_direction: current.wind_direction_10m ?? null,
    units: unitNames(units, units === 'imperial' ? 'mph' : 'km/h'),
    forecast: days,
    source: 'Open-Meteo',
  })
}

async function openWeatherMap(
  { settings, fetch }: WeatherService,
  city: string,
  units: Units,
  signal: AbortSignal,
): Promise<ToolResult> {
  if (settings.apiKey === undefined)
    return unavailable('OpenWeatherMap needs `weather.api_key` in config.yml.')
  const configured = settings.openweathermapUrl
  const url = serviceUrl(configured, 'https://api.openweathermap.org/data/2.5/weather')
  url.searchParams.set('q', city)
  url.searchParams.set('appid', settings.apiKey)
  url.searchParams.set('units', units)
  const outcome = await request(fetch, url, configured !== undefined, OpenWeather, signal)
  if (!outcome.ok) return outcome.isNotFound ? unknownCity(city) : unavailable(outcome.error)
  const { name, sys, main, weather, wind, dt } = outcome.value
  return present({
    city: name,
    region: null,
    country: sys?.country ?? null,
    country_code: sys?.country ?? null,
    observed_at: dt === undefined ? null : new Date(dt * 1000).toISOString(),
    timezone: null,
    condition: weather[0]?.description ?? 'unknown',
    temperature: main.temp,
    feels_like: main.feels_like ?? null,
    humidity: main.humidity ?? null,
    precipitation: null,
    wind_speed: wind?.speed ?? null,
    wind_direction: wind?.deg ?? null,
    units: unitNames(units, units === 'imperial' ? 'mph' : 'm/s'),
    forecast: [],
    source: 'OpenWeatherMap',
  })
}

/** @param error a full sentence. */
const unavailable = (error: string): ToolResult => fail(`Weather data is not available. ${error}`)

const unknownCity = (city: string): ToolResult =>
  fail(`No city named "${city}". Check the spelling, or try its English name.`)

const present = <T extends { city: string; condition: string; temperature: number }>(
  weather: T,
): ToolResult =>
  succeed(weather, { display: `${weather.city}: ${weather.temperature}°, ${weather.condition}` })

const unitNames = (units: Units, wind: string): Record<string, string> => ({
  temperature: units === 'imperial' ? '°F' : '°C',
  wind_speed: wind,
  precipitation: units === 'imperial' ? 'inch' : 'mm',
  humidity: '%',
})

const Geocoding = z.object({
  results: z
    .array(
      z.object({
        name: z.string(),
        latitude: z.number(),
        longitude: z.number(),
        country: z.string().optional(),
        country_code: z.string().optional(),
        admin1: z.string().optional(),
        timezone: z.string().optional(),
      }),
    )
    .optional(),
})

/** A figure beside the temperature: a service that leaves it out, or means something else by it, still says the rest. */
const figure = z.number().nullish().catch(null)
const series = z.array(z.number().nullable().catch(null)).optional().catch(undefined)
const Forecast = z.object({
  timezone: z.string().optional().catch(undefined),
  current: z.object({
    time: z.string(),
    temperature_2m: z.number(),
    relative_humidity_2m: figure,
    apparent_temperature: figure,
    precipitation: figure,
    weather_code: figure,
    wind_speed_10m: figure,
    wind_direction_10m: figure,
  }),
  daily: z
    .object({
      time: z.array(z.string()),
      weather_code: series,
      temperature_2m_max: series,
      temperature_2m_min: series,
      precipitation_probability_max: series,
    })
    .optional()
    .catch(undefined),
})

const OpenWeather = z.object({
  name: z.string(),
  dt: z.number().optional(),
  sys: z.object({ country: z.string().optional() }).optional(),
  main: z.object({
    temp: z.number(),
    feels_like: z.number().optional(),
    humidity: z.number().optional(),
  }),
  weather: z.array(z.object({ description: z.string() })),
  wind: z.object({ speed: z.number().optional(), deg: z.number().optional() }).optional(),
})

/** WMO weather interpretation codes, as Open-Meteo documents them. */
const WEATHER_CODES = new Map<number, WeatherCondition>([
  [0, 'clear sky'],
  [1, 'mainly clear'],
  [2, 'partly cloudy'],
  [3, 'overcast'],
  [45, 'fog'],
  [48, 'depositing rime fog'],
  [51, 'light drizzle'],
  [53, 'drizzle'],
  [55, 'dense drizzle'],
  [56, 'light freezing drizzle'],
  [57, 'freezing drizzle'],
  [61, 'slight rain'],
  [63, 'rain'],
  [65, 'heavy rain'],
  [66, 'light freezing rain'],
  [67, 'freezing rain'],
  [71, 'slight snow'],
  [73, 'snow'],
  [75, 'heavy snow'],
  [77, 'snow grains'],
  [80, 'slight rain showers'],
  [81, 'rain showers'],
  [82, 'violent rain showers'],
  [85, 'slight snow showers'],
  [86, 'heavy snow showers'],
  [95, 'thunderstorm'],
  [96, 'thunderstorm with slight hail'],
  [99, 'thunderstorm with heavy hail'],
])
const condition = (code: number | null | undefined): string =>
  WEATHER_CODES.get(code ?? -1) ?? 'unknown'
