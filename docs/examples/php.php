<?php
// Looks up one address: php php.php POSTCODE HUISNUMMER [TOEVOEGING]
// Requires BAG_ADRES_URL and BAG_ADRES_KEY in the environment, and PHP 8.1 or newer with its curl extension.
declare(strict_types=1);

if (!getenv('BAG_ADRES_URL') || !getenv('BAG_ADRES_KEY')) {
    fwrite(STDERR, "Set BAG_ADRES_URL and BAG_ADRES_KEY.\n");
    exit(1);
}
$url = rtrim(getenv('BAG_ADRES_URL'), '/') . '/v1/address?' . http_build_query([
    'postcode' => $argv[1] ?? '',
    'huisnummer' => $argv[2] ?? '',
    'toevoeging' => $argv[3] ?? '',
]);

/** Sends the request. Retries twice on 429 and 503 after Retry-After, and on 500 or no response after a growing pause. */
function send(string $url, int $triesLeft = 2, int $pause = 1): array
{
    $headers = [];
    $curl = curl_init($url);
    curl_setopt_array($curl, [
        CURLOPT_HTTPHEADER => ['X-API-Key: ' . getenv('BAG_ADRES_KEY')],
        CURLOPT_RETURNTRANSFER => true,
        CURLOPT_TIMEOUT => 10,
        CURLOPT_HEADERFUNCTION => function ($curl, string $header) use (&$headers): int {
            [$name, $value] = explode(':', $header, 2) + [1 => ''];
            $headers[strtolower(trim($name))] = trim($value);
            return strlen($header);
        },
    ]);
    $body = curl_exec($curl);
    if ($body === false && $triesLeft === 0) {
        throw new RuntimeException('no response: ' . curl_error($curl));
    }
    $status = curl_getinfo($curl, CURLINFO_RESPONSE_CODE);
    $wait = (int) ($headers['retry-after'] ?? $pause);
    $isFinal = $triesLeft === 0 || !in_array($status, [429, 500, 503], true) || $wait > 30;
    if ($body !== false && $isFinal) {
        return [$status, json_decode($body, true, flags: JSON_THROW_ON_ERROR)];
    }
    sleep($wait);
    return send($url, $triesLeft - 1, 2 * $pause);
}

function line(array $place): string
{
    return "{$place['straat']}, {$place['woonplaats']}";
}

function notFound(array $toevoegingen): string
{
    $existing = implode(', ', array_map(fn (?string $one): string => $one ?? 'none', $toevoegingen));
    return $existing === '' ? 'no such address' : "no such address; existing toevoegingen: $existing";
}

[$status, $answer] = send($url);
if ($status !== 200) {
    $faults = array_column($answer['errors'] ?? [], 'detail');
    // API Gateway's own refusals have only a message.
    $first = isset($answer['title']) ? "{$answer['title']}: {$answer['detail']}" : $answer['message'];
    fwrite(STDERR, implode("\n", ["$status $first", ...$faults]) . "\n");
    exit(1);
}
echo match ($answer['status']) {
    'ok' => line($answer['address']),
    'ambiguous' => 'several: ' . implode('; ', array_map('line', $answer['candidates'])),
    default => notFound($answer['toevoegingen']),
}, "\n";
